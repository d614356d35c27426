package machines

import (
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// onHold reports whether a hook holds the deletion of a Machine.
func onHold(m *clusterv1.Machine) bool {
	_, ok := m.Annotations[HoldAnnotation]
	return ok
}

// hooked reports whether a hook of another client holds the deletion of a Machine.
func (m *Machine) hooked() bool {
	for name := range m.Object.Annotations {
		if name != HoldAnnotation && (strings.HasPrefix(name, clusterv1.PreDrainDeleteHookAnnotationPrefix) ||
			strings.HasPrefix(name, clusterv1.PreTerminateDeleteHookAnnotationPrefix)) {
			return true
		}
	}
	return false
}

// waitsFor returns the provider key of the instance whose infrastructure machine a held deletion of the Machine waits for; empty if there
// is none.
func (m *Machine) waitsFor() string {
	if !m.Deleting || !m.Held || m.Detached {
		return ""
	}
	return cloud.ProviderKey(m.Object.Spec.ProviderID)
}

// held adds the instances whose removal is requested by Machines that wait for their infrastructure machines.
func (k Index) held(out Consequences, guarded bool, now time.Time) {
	for _, m := range k.Alone {
		key := m.waitsFor()
		if key == "" {
			continue
		}
		out.DeletionRequested[key] = *m.cause()
		if guarded {
			out.Guards[key] = pool.Guard{Requested: true, WaitReasons: m.waits(now)}
		}
	}
}
