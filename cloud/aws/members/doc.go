// Package members reads details of the instances of an Auto Scaling group that the group itself does not report: what EC2 reports about
// them, which of them Muster put into standby or protected from scale-in, and which spot instances are about to be interrupted.
package members
