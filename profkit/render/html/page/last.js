/* The last script: everything is registered, the page can start. */
profkit.whenReady(() => profkit.buildLayout());
profkit.start();
