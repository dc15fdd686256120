"""The page. Gradio lives here and nowhere else; handlers only call the desk and render what it says."""

import os

# Read by Gradio when it is imported: nothing is reported to anybody, now or later.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

from companion_app.ui.mount import mount_page

__all__ = ["mount_page"]
