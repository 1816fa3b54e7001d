"""Hands on a vehicle's parts: joints and actuators by sliders, poses by name, bodies that are chosen, weighed, pushed.

The door is `panel.draw_model` and `view.draw_choice`; `actions.ModelActions` keeps poses and roots.
"""
