"""The still world: ground, far land, roads, pads, plants and boulders.

`scenery` makes all of it as arrays, without GL; `still_world` owns it on the GPU and draws it in every pass.
"""
