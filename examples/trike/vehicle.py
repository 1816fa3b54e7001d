import casadi as ca

from sim.symbolic import shift, turn_about
from sim.vehicles import Control, NonholonomicVehicle, Parameter, ShapeCoordinate


class Trike(NonholonomicVehicle):
    name = "trike"
    parameters = (
        Parameter("mass", "kg", 90.0, 1.0, 1e4, "Mass with rider."),
        Parameter("yaw_inertia", "kg m^2", 40.0, 0.1, 1e5, "About the middle of the rear axle."),
        Parameter("fork_inertia", "kg m^2", 0.3, 0.01, 1e3, "Fork and front wheel about the steering axis."),
        Parameter("wheel_inertia", "kg m^2", 0.2, 0.01, 1e3, "Both rear wheels."),
        Parameter("wheelbase", "m", 1.1, 0.1, 10.0, "From the rear axle to the front wheel."),
        Parameter("wheel_radius", "m", 0.3, 0.01, 2.0, "Of the rear wheels."),
    )
    controls = (
        Control("f_psi", "N m", -60.0, 60.0, "Torque on the rear wheels."),
        Control("f_phi", "N m", -6.0, 6.0, "Torque on the fork, positive to the left."),
    )
    shape_coordinates = (
        ShapeCoordinate("psi", "rad", "Roll angle of the rear wheels."),
        ShapeCoordinate("phi", "rad", "Angle of the fork.", -1.0, 1.0),
    )

    def lagrangian(self, r, u, xi, q):
        body = q.mass * (xi[1] ** 2 + xi[2] ** 2) + q.yaw_inertia * xi[0] ** 2
        return (body + q.fork_inertia * (xi[0] + u[1]) ** 2 + q.wheel_inertia * u[0] ** 2) / 2

    def constraints(self, r, q):
        rolling = ca.horzcat(-q.wheel_radius, 0, 0, 1, 0)
        rear_axle = ca.horzcat(0, 0, 0, 0, 1)
        front_wheel = ca.horzcat(0, 0, q.wheelbase * ca.cos(r[1]), -ca.sin(r[1]), ca.cos(r[1]))
        return ca.vertcat(rolling, rear_axle, front_wheel)

    def shape_force(self, r, u, controls, q):
        return ca.vertcat(controls[0] - 0.4 * u[0], controls[1] - 3.0 * u[1] - 6.0 * r[1])

    def bodies(self, node, q):
        r, frame = node[self.node_layout.shape], super().bodies(node, q)["body"]
        fork = frame @ shift(q.wheelbase, 0, 0) @ turn_about("z", r[1])
        wheel = shift(0, 0, q.wheel_radius) @ turn_about("y", r[0])
        return {"body": frame, "rear wheels": frame @ wheel, "fork": fork, "front wheel": fork @ wheel}
