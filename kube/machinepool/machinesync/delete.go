package machinesync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/reference"
	"github.com/muster-project/muster/kube/machinepool/status"
	"github.com/muster-project/muster/kube/machines"
)

const (
	// WaitingForDeletionReason is the reason of the condition Deleting while Machines exist.
	WaitingForDeletionReason = "WaitingForMachinesDeletion"
	// AfterDeletion is the time until Machines that are being deleted are read again, in case their watch fails to wake the pool.
	AfterDeletion = 30 * time.Second
)

// DeleteAll deletes the Machines of a pool that is being deleted. It returns those that still exist; requested is true if all of them are
// being deleted.
func DeleteAll(ctx context.Context, c client.Client, pool *clusterv1.MachinePool, all []*clusterv1.Machine) (
	left []*clusterv1.Machine, requested bool, outcome control.Result) {
	var errs []error
	writes := 0
	requested = true
	for _, m := range all {
		if !reference.Controls(pool, m) {
			continue
		}
		left = append(left, m)
		if !m.DeletionTimestamp.IsZero() {
			continue
		}
		if writes++; writes > WriteLimit {
			requested = false
			outcome = control.RequeueAfter(AfterLimit)
			continue
		}
		uid := m.UID
		err := c.Delete(ctx, &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}},
			client.Preconditions{UID: &uid})
		if err != nil && !apierrors.IsNotFound(err) {
			errs, requested = append(errs, fmt.Errorf("delete Machine %s: %w", m.Name, err)), false
		}
	}
	return left, requested, outcome.Join(control.Failed(errors.Join(errs...)))
}

// deleteUnchanged deletes exactly the Machine that was read, unless it has changed since.
func deleteUnchanged(ctx context.Context, c client.Client, m *clusterv1.Machine) error {
	uid, version := m.UID, m.ResourceVersion
	err := c.Delete(ctx, &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}},
		client.Preconditions{UID: &uid, ResourceVersion: &version})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete Machine %s: %w", m.Name, err)
	}
	return nil
}

// reasonLimit is the limit for the part of a message about one deleting Machine, in bytes.
const reasonLimit = 300

// Waiting returns the message of the condition Deleting while Machines exist: how many, and what each waits for. Machines whose deletion
// is blocked come first, because users look for a few blocked drains among hundreds that make progress.
func Waiting(left []*clusterv1.Machine) string {
	var blocked, others []string
	for _, m := range left {
		reason := blockedBy(m)
		if reason == "" {
			others = append(others, m.Name+stage(m))
			continue
		}
		blocked = append(blocked, m.Name+" ("+reason+")")
	}
	return fmt.Sprintf("Waiting for Machines to be deleted, %d left: %s", len(left), status.FirstNames(append(blocked, others...)))
}

// stage returns how far the deletion of a Machine has come, in brackets; empty if its controller has not reported it.
func stage(m *clusterv1.Machine) string {
	if reason := deletingReason(m); reason != "" {
		return " (" + reason + ")"
	}
	return ""
}

func deletingReason(m *clusterv1.Machine) string {
	if !conditions.IsTrue(m, clusterv1.MachineDeletingCondition) {
		return ""
	}
	return conditions.GetReason(m, clusterv1.MachineDeletingCondition)
}

// blockedBy returns what blocks the deletion of a Machine: the paused annotation, or what its controller reports; empty if nothing does.
func blockedBy(m *clusterv1.Machine) string {
	if annotations.HasPaused(m) {
		return "has the annotation " + clusterv1.PausedAnnotation
	}
	reason := strings.TrimPrefix(strings.Join(machines.WaitReasons(m), "; "), "Machine "+m.Name+": ")
	if reason == "" {
		return ""
	}
	reason = strings.Join(strings.Fields(reason), " ")
	if len(reason) > reasonLimit {
		reason = strings.ToValidUTF8(reason[:reasonLimit], "") + "..."
	}
	return cmp.Or(deletingReason(m), clusterv1.MachineDeletingReason) + ": " + reason
}
