"""imgui's and implot's contexts, with docking and a remembered layout; no window, no GL."""

from collections.abc import Callable

from imgui_bundle import imgui, implot, implot3d


def open_context(layout: str = "") -> Callable[[], None]:
    """Create both contexts and make them current; returns what closes them.

    layout: as imgui has written it. It reads and writes no files by itself.
    """
    context = imgui.create_context()
    plots = implot.create_context()
    space_plots = implot3d.create_context()
    io = imgui.get_io()
    io.config_flags |= imgui.ConfigFlags_.docking_enable.value
    io.config_windows_move_from_title_bar_only = True
    io.config_input_text_cursor_blink = True
    io.set_ini_filename(None)
    if layout:
        imgui.load_ini_settings_from_memory(layout)

    def close() -> None:
        implot3d.destroy_context(space_plots)
        implot.destroy_context(plots)
        imgui.destroy_context(context)

    return close
