package workload

import (
	"time"
)

// Outage is the time in which the API server of a cluster is out of reach.
type Outage struct {
	cluster *Cluster
	// away is until when it does not answer, left since when.
	away, left time.Time
}

// Noticed is the length of an outage after which the connection to a workload cluster is given up.
const Noticed = 50 * time.Second

// Until returns the end of the current or last outage.
func (o *Outage) Until() time.Time { return o.away }

// Away reports whether the API server does not answer.
func (o *Outage) Away() bool { return time.Now().Before(o.away) }

// Since is since when it does not answer, or did not when it last went away.
func (o *Outage) Since() time.Time { return o.left }

// Begin makes the workload cluster unreachable for a while. Connected clients are notified of its end.
func (o *Outage) Begin(d time.Duration) {
	now := time.Now()
	if !now.Before(o.away) {
		o.left = now
	}
	o.cluster.guarded(func() { o.away = later(o.away, now.Add(d)) })
	for _, at := range []time.Time{o.left.Add(Noticed + time.Second), o.away} {
		o.cluster.env.At(at, o.cluster.Reconnect)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
