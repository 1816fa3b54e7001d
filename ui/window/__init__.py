"""The window and what every part of it shares: its loop, imgui, look, widgets, requests, and `context` for panels."""
