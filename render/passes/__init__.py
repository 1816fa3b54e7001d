"""What every picture goes through: sun shadows, sky, framebuffers, overlays and the finishing pass.

A drawable is handed a `PassContext` (`context`), which says in which pass it draws and for which camera; `culling`
tells what that camera cannot see, `uniforms` what all shaders read.
"""
