"""Messages on channels and in files, descriptors beside them."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.measuring.worker.protocol import (
    Inbox,
    from_file,
    in_file,
    receive_descriptors,
    send,
    send_descriptors,
)

texts = st.text(st.characters(exclude_categories=()))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)
messages = st.dictionaries(texts, values, max_size=5)


@given(st.lists(messages, max_size=4))
def test_messages_arrive_as_they_were_sent(sent):
    ours, theirs = socket.socketpair()
    with theirs:
        with ours:
            for message in sent:
                send(ours, message)
        inbox, arrived = Inbox(theirs), []
        while not inbox.ended:
            arrived += inbox.read()
    assert arrived == sent


@given(messages, st.data())
def test_pieces_make_no_difference(message, data):
    whole, pieces = socket.socketpair()
    with whole, pieces:
        send(whole, message)
        text = pieces.recv(1 << 20)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        inbox, arrived = Inbox(theirs), []
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            if start < end:
                ours.sendall(text[start:end])
                arrived += inbox.read()
    assert arrived == [message]


def test_bytes_that_are_no_text_survive():
    name = os.fsdecode(b"/tmp/\xff\xfe")
    assert from_file(in_file({"path": name})) == {"path": name}


@given(messages)
def test_files_hold_messages_wherever_their_position_is(message):
    descriptor = in_file(message)
    os.lseek(descriptor, 3, os.SEEK_SET)
    assert from_file(descriptor) == message
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(descriptor)


@pytest.fixture
def inbox() -> Iterator[tuple[socket.socket, Inbox]]:
    """The writer's end of a channel, and the inbox at its other end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setblocking(False)
        yield ours, Inbox(theirs)


def test_a_channel_that_does_not_block_has_nothing_yet(inbox):
    assert inbox[1].read() == []
    assert not inbox[1].ended


def test_a_message_that_is_cut_off_is_none(inbox):
    inbox[0].sendall(b"\0\0\0\x09{")
    inbox[0].close()
    assert inbox[1].read() == []
    assert inbox[1].read() == []
    assert inbox[1].ended


def test_a_channel_closed_with_words_unread_has_ended(inbox):
    inbox[1]._channel.sendall(b"unread")
    inbox[0].close()
    assert inbox[1].read() == []
    assert inbox[1].ended


def test_sending_to_nobody_raises_and_kills_not(inbox):
    inbox[1]._channel.close()
    with pytest.raises(BrokenPipeError):
        send(inbox[0], {})


def test_descriptors_arrive_as_copies_that_programs_do_not_inherit():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        with ours, open(os.devnull) as first, open("/dev/zero") as second:
            send_descriptors(ours, [first.fileno(), second.fileno()])
            wanted = [os.fstat(file.fileno()).st_rdev for file in (first, second)]
        arrived = receive_descriptors(theirs)
        assert [os.fstat(number).st_rdev for number in arrived] == wanted
        assert not any(os.get_inheritable(number) for number in arrived)
        assert receive_descriptors(theirs) == []
    for number in arrived:
        os.close(number)
