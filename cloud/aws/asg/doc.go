// Package asg is shared by the drivers of Auto Scaling groups, whether Muster creates the group or EKS does: the members of a group and
// their states, why instances are missing, what EC2 reports about them, and their termination by name.
package asg
