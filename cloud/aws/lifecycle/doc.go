// Package lifecycle handles the lifecycle hooks of an Auto Scaling group: the hook by which nodes are drained before an instance
// is terminated (muster-drain), the hooks that the specification asks for, how they differ from those of the group, and which instances
// the drain hook holds, since when and why.
package lifecycle
