package world

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/test/explore/memapi"
	"github.com/muster-project/muster/test/explore/oracle"
)

const (
	// stillLeast is how long nothing else must have happened before a rotation for its effect to be told from that of something else: no
	// fault lasts longer that is not taken out of force.
	stillLeast = 5 * time.Minute
	// rotatedSpell is how long after a rotation conditions are watched.
	rotatedSpell = 2 * time.Minute
)

// rotation is the last rotation of the bootstrap token that nothing else disturbs.
type rotation struct {
	// last is when an event that is no rotation happened last, at when the token was rotated while the pool was Ready; zero when something
	// else has happened since.
	last, at time.Time
}

// note takes up an event before it happens.
func (r *rotation) note(w *World, e Event) {
	now := time.Now()
	if e.What != Token {
		r.last, r.at = now, time.Time{}
		return
	}
	if still := now.Sub(r.last) >= stillLeast && len(w.account.inForce()) == 0; still && w.readiness()[0].Status == "True" {
		r.at = now
	}
}

// check looks at a write of a status: a rotation changes no Ready.
func (r *rotation) check(w *World, op memapi.Op) {
	if op.Subresource != "status" || r.at.IsZero() || time.Since(r.at) > rotatedSpell {
		return
	}
	w.blameAll("rotation", oracle.Rotation(w.readiness()))
}

// readiness is the condition Ready of the infrastructure object.
func (w *World) readiness() []oracle.Readiness {
	_, o := w.Objects()
	if o == nil {
		return []oracle.Readiness{{}}
	}
	c := meta.FindStatusCondition(w.pool.Status(o).Conditions, clusterv1.ReadyCondition)
	if c == nil {
		return []oracle.Readiness{{}}
	}
	return []oracle.Readiness{{Object: w.kind, Status: string(c.Status), Reason: c.Reason, Message: c.Message}}
}
