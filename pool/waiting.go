package pool

import (
	"fmt"
	"strings"
)

// settled says that the cloud is not at work: as many instances run as the group wants, and none comes or goes.
func settled(o Observed) bool {
	running := 0
	for _, i := range o.Instances {
		if i.State != Running {
			return false
		}
		running++
	}
	return running == o.Group.Size
}

// waiting says what the pool waits for, most important first.
func waiting(d Desired, o Observed, t Traits) []Cause {
	var out []Cause
	if d.Held != nil && o.Wanted.Content == "" {
		out = append(out, *d.Held)
	}
	if o.NodesUnknown {
		out = append(out, Cause{"WorkloadClusterUnreachable", "the workload cluster does not answer, so nothing is known about nodes and none is removed"})
	}
	out = append(out, o.Issues...)
	out = append(out, launching(o)...)
	out = append(out, draining(o.Instances)...)
	if d.Max < o.Group.Size {
		out = append(out, Cause{"MaximumWaits", fmt.Sprintf("%s is lowered to %d once the %s, which has a size of %d, is small enough", d.MaxField, d.Max, t.Group, o.Group.Size)})
	}
	return append(out, joining(o)...)
}

// launching counts the instances that the cloud has still to bring, and names those that failed.
func launching(o Observed) []Cause {
	pending, failed := 0, 0
	for _, i := range o.Instances {
		switch i.State {
		case Pending:
			pending++
		case Failed:
			failed++
		}
	}
	missing := max(0, o.Group.Size-len(alive(o)))
	var out []Cause
	if n := pending + missing; n > 0 {
		out = append(out, Cause{"InstancesLaunching", fmt.Sprintf("waiting for %s to be launched", machines(n))})
	}
	if failed > 0 {
		out = append(out, Cause{"InstancesFailed", machines(failed) + " failed and will be replaced"})
	}
	return out
}

// joining counts the machines that run and serve nobody yet.
func joining(o Observed) []Cause {
	if o.NodesUnknown {
		return nil
	}
	unjoined, unready := 0, 0
	for _, i := range o.Instances {
		switch {
		case i.State != Running:
		case i.Node == nil:
			unjoined++
		case !i.Node.Ready:
			unready++
		}
	}
	var out []Cause
	if unjoined > 0 {
		out = append(out, Cause{"NodesJoining", fmt.Sprintf("waiting for %s to join the cluster", machines(unjoined))})
	}
	if unready > 0 {
		out = append(out, Cause{"NodesNotReady", fmt.Sprintf("waiting for the nodes of %s to be Ready", machines(unready))})
	}
	return out
}

// blockedLimit bounds how many pods a message names.
const blockedLimit = 3

// draining says which drains have not ended, and what keeps them.
func draining(list []Instance) []Cause {
	var nodes, blocked []string
	for _, i := range list {
		if i.State == Terminating || i.Node == nil || i.Node.DrainStarted.IsZero() || i.Node.Drained() {
			continue
		}
		nodes = append(nodes, i.Node.Name)
		blocked = append(blocked, i.Node.Blocked...)
	}
	if len(nodes) == 0 {
		return nil
	}
	text := fmt.Sprintf("draining %s", short(nodes))
	if len(blocked) > 0 {
		return []Cause{{"DrainBlocked", text + "; kept by " + short(blocked)}}
	}
	return []Cause{{"Draining", text}}
}

// short lists the first few names and counts the rest.
func short(names []string) string {
	if len(names) <= blockedLimit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:blockedLimit], ", "), len(names)-blockedLimit)
}
