"""List authors with their books; each author's books are another query."""

from benchmarks.answers import truth

# isort: split
from time import perf_counter

from sqlalchemy import ForeignKey, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship


class Base(DeclarativeBase):
    """Base of the models."""


class Author(Base):
    """An author with books."""

    __tablename__ = "authors"
    id: Mapped[int] = mapped_column(primary_key=True)
    books: Mapped[list["Book"]] = relationship()


class Book(Base):
    """A book of one author."""

    __tablename__ = "books"
    id: Mapped[int] = mapped_column(primary_key=True)
    author: Mapped[int] = mapped_column(ForeignKey("authors.id"))


def count_books(session: Session) -> int:
    total = 0
    for author in session.scalars(select(Author)):
        with truth.planted:
            total += len(author.books)  # PLANTED
    return total


engine = create_engine("sqlite://")
Base.metadata.create_all(engine)
with Session(engine) as session:
    session.add_all(Author(books=[Book(), Book()]) for _ in range(100))
    session.commit()
total, end_s = 0, perf_counter() + truth.SECONDS
while perf_counter() < end_s:
    with Session(engine) as session:
        total += count_books(session)
print(total, "books")
