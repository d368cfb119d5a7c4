/* The namespace that all scripts of a page share, and the page's head: what it shows besides columns. */
const profkit = {
  /** The page's head, as document.py wrote it. */
  head: JSON.parse(document.getElementById("profkit-head").textContent),
};

{
  const steps = [];

  /** Call `step` once the columns can be read, in the order of the calls; panels are placed after that. */
  profkit.whenReady = (step) => steps.push(step);

  /** Unpack the data and build the page; a page that cannot be built says why in words. */
  profkit.start = async () => {
    const place = document.getElementById("profkit");
    try {
      await profkit.unpackColumns();
      steps.forEach((step) => step());
    } catch (error) {
      place.textContent = `This report cannot be shown: ${error.message}. Any browser since 2024 can show it.`;
      throw error;
    } finally {
      place.removeAttribute("aria-busy");
    }
  };
}
