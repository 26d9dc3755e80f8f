// Sets the remembered theme before the first paint. It isn't a module because modules run after it.
(function () {
  try {
    const theme = localStorage.getItem("pawl.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Without storage the theme is that of the system.
  }
})();
