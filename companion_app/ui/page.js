// Theme, the passage panel's keys and focus, and keeping the newest text in view. Nothing is fetched here.
window.companion = (() => {
  const THEME = 'companion-theme';
  let opener = null;

  const dark = () => {
    const chosen = localStorage.getItem(THEME);
    return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  };
  const applyTheme = () => document.body.classList.toggle('dark', dark());
  const toggleTheme = () => {
    localStorage.setItem(THEME, dark() ? 'light' : 'dark');
    applyTheme();
  };

  const panelChanged = (element) => {
    const passage = element.querySelector('aside');
    document.body.classList.toggle('reading', Boolean(passage));
    if (passage) {
      const cited = passage.querySelector('mark');
      const note = passage.querySelector('.note');
      if (cited && note) note.scrollTop = cited.offsetTop - note.offsetTop - 48;
      passage.focus({ preventScroll: true });
    } else if (opener && opener.isConnected) {
      opener.focus({ preventScroll: true });
    }
  };

  document.addEventListener('click', (click) => {
    opener = click.target.closest('[data-passage]') || opener;
  }, true);
  document.addEventListener('keydown', (key) => {
    if (key.key === 'Escape') document.querySelector('#panel [data-close]')?.click();
  });

  // New text pulls the view down only while the reader is at the end anyway.
  let atEnd = true;
  const end = () => document.documentElement.scrollHeight - innerHeight - scrollY;
  addEventListener('scroll', () => { atEnd = end() < 140; }, { passive: true });
  const keepEnd = () => { if (atEnd) scrollTo({ top: document.documentElement.scrollHeight }); };

  addEventListener('DOMContentLoaded', () => {
    applyTheme();
    // Gradio sets its own idea of the theme after it has started.
    new MutationObserver(() => {
      if (document.body.classList.contains('dark') !== dark()) applyTheme();
    }).observe(document.body, { attributes: true, attributeFilter: ['class'] });
    new MutationObserver((changes) => {
      if (changes.some((change) => change.target.closest?.('#live, #history'))) keepEnd();
    }).observe(document.body, { childList: true, subtree: true });
  });
  return { toggleTheme, panelChanged };
})();
