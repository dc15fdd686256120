"""The theme "obsidian": quiet surfaces, one violet accent, the fonts this machine has."""

import gradio as gr

_SANS = ("ui-sans-serif", "system-ui", "-apple-system", "Segoe UI", "Roboto", "Noto Sans", "sans-serif")
_MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "Noto Sans Mono", "monospace")


def obsidian_theme() -> gr.themes.Base:
    """The theme. Plain font names, so that Gradio asks nobody for a font; `page.css` holds the rest."""
    theme = gr.themes.Base(
        primary_hue=gr.themes.colors.violet, neutral_hue=gr.themes.colors.zinc, font=_SANS, font_mono=_MONO
    )
    return theme.set(
        body_background_fill="#fbfaf8",
        body_background_fill_dark="#1b1b1f",
        body_text_color="#26252b",
        body_text_color_dark="#dcdbe2",
        block_background_fill="transparent",
        block_background_fill_dark="transparent",
        block_border_width="0px",
        block_shadow="none",
        block_padding="0px",
        layout_gap="0px",
        input_background_fill="#ffffff",
        input_background_fill_dark="#26262c",
        button_primary_background_fill="#6d4fc4",
        button_primary_background_fill_hover="#5d40b3",
        button_primary_background_fill_dark="#7d61d4",
        button_primary_background_fill_hover_dark="#8d73e0",
        button_primary_text_color="#ffffff",
    )
