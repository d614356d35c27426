// Package members is what Muster knows about the instances of an Auto Scaling group beside the group's own answer: what EC2 reports about
// them, which of them Muster put into standby or protected from scale-in, and which spot instances are about to be interrupted.
package members
