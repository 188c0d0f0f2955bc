// What Material for MkDocs searches with. Where the page is a file, a worker must be no other file, and nothing can be fetched:
// WORKER is the worker's text, which tools/site puts before this, and the index is a script. It is large, so it waits until
// somebody looks for something.
var __search = (() => {
  const folder = document.currentScript.src.replace(/[^/]*$/, "");
  const index = new Promise((resolve) => {
    const load = (event) => {
      if (!event.target.matches("[data-md-component=search-query]")) return;
      document.removeEventListener("focusin", load);
      window.hycollSearchIndex = resolve;
      const script = document.createElement("script");
      script.src = folder + "search_index.js";
      document.head.append(script);
    };
    document.addEventListener("focusin", load);
  });
  return { index, worker: URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" })) };
})();
