package machines

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

const (
	// eventReclaimed is the reason of the event when an infrastructure machine gets its owner reference back.
	eventReclaimed = "MachineReclaimed"
	// eventReleased is the reason of the event when the finalizer is removed from a deleted infrastructure machine without an owner.
	eventReleased = "MachineReleased"
	// poolSuffix ends the names of all kinds of pools.
	poolSuffix = "MachinePool"
)

// OwnerElsewhere returns the owner reference that makes an infrastructure machine another pool's or controller's; nil if it has none.
// Its Machine is no such owner: that follows the infrastructure machine.
func OwnerElsewhere(o client.Object, owner metav1.OwnerReference) *metav1.OwnerReference {
	refs := o.GetOwnerReferences()
	for i, ref := range refs {
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		switch {
		case util.HasOwnerRef([]metav1.OwnerReference{ref}, owner):
		case err == nil && gv.Group == clusterv1.GroupVersion.Group && ref.Kind == "Machine":
		case ref.Controller != nil && *ref.Controller, strings.HasSuffix(ref.Kind, poolSuffix):
			return &refs[i]
		}
	}
	return nil
}

// Belongs reports whether an infrastructure machine without an owner is the pool's: it has the labels of the pool's machines, and its
// provider ID is one of the pool's instances (listed, by provider key) or gives the name that the object has.
func (d *Doer) Belongs(o client.Object, listed map[string]bool) bool {
	key := cloud.ProviderKey(d.Kind.ProviderID(o))
	if key == "" || OwnerElsewhere(o, d.Owner) != nil || o.GetLabels()[clusterv1.ClusterNameLabel] != d.Cluster {
		return false
	}
	id := d.Kind.ProviderID(o)
	return listed[key] || o.GetName() == d.NameOf(pool.Instance{ID: id[strings.LastIndexByte(id, '/')+1:], ProviderID: id})
}

// ownedBy reports whether an object has an owner with the UID.
func ownedBy(o client.Object, uid types.UID) bool {
	for _, ref := range o.GetOwnerReferences() {
		if ref.UID == uid {
			return true
		}
	}
	return false
}

// abandoned reports whether an infrastructure machine is being deleted while neither its pool owns it nor its Machine is being deleted.
// Such a deletion is no request to remove the instance: the garbage collector makes it after a restore, and users make it because the
// object looks left behind.
func (i Infra) abandoned() bool {
	return i.Orphaned && i.Deleting && !i.Detached && (i.Machine == nil || !i.Machine.Deleting)
}

// reclaimed records that an infrastructure machine has its owner reference again.
func (d *Doer) reclaimed(o client.Object) {
	d.Recorder.Eventf(d.Pool, o, corev1.EventTypeNormal, eventReclaimed, eventAction, "Restored the owner reference of %s", d.named(o))
}

// releaseAbandoned removes the finalizer from an infrastructure machine that is being deleted without an owner, and records why. Its
// instance stays, and the next pass creates another object for it.
func (d *Doer) releaseAbandoned(ctx context.Context, i *Infra) error {
	if err := d.release(ctx, i.Object, d.Kind.Release); err != nil {
		return err
	}
	d.Recorder.Eventf(d.Pool, i.Object, corev1.EventTypeNormal, eventReleased, eventAction,
		"Released %s, which was deleted while it had no owner: its instance stays and gets another object; delete that to remove the instance",
		d.named(i.Object))
	return nil
}

// taken decides about an object that has the name for an instance's infrastructure machine already. One that another pass created, and
// that the cache does not show yet, is left to the next pass. One without an owner that names the instance is the pool's. Any other is
// reported in Conflicts and left alone.
func (d *Doer) taken(ctx context.Context, o client.Object, i pool.Instance) error {
	other := d.Kind.New()
	if err := d.Client.Get(ctx, client.ObjectKeyFromObject(o), other); err != nil {
		return client.IgnoreNotFound(err)
	}
	if util.HasOwnerRef(other.GetOwnerReferences(), d.Owner) {
		return nil
	}
	id := d.Kind.ProviderID(other)
	switch owner := OwnerElsewhere(other, d.Owner); {
	case owner != nil:
		d.conflict(other, i, fmt.Sprintf("is owned by %s %s", owner.Kind, owner.Name), adviceForeign)
		return nil
	case cloud.ProviderKey(id) != cloud.ProviderKey(i.ProviderID):
		d.conflict(other, i, "has the provider ID "+id, adviceForeign)
		return nil
	}
	was := other.DeepCopyObject().(client.Object)
	d.tie(other)
	if going(other) {
		// Whether its deletion removes the instance is decided by the next pass, which finds it by its labels.
		other.SetOwnerReferences(was.GetOwnerReferences())
	}
	if err := d.patch(ctx, was, other, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	if !going(other) {
		d.reclaimed(other)
	}
	return nil
}

// adviceForeign advises the user about an object that belongs to another owner.
const adviceForeign = "delete it or change its owner"

// conflict records an object that prevents the creation of an instance's infrastructure machine, and the advice for the user.
func (d *Doer) conflict(o client.Object, i pool.Instance, fact, next string) {
	d.Conflicts = append(d.Conflicts, fmt.Sprintf("%s %s, and has the name of the object for instance %s of %s %s: %s",
		d.named(o), fact, i.ID, d.PoolKind, d.Pool.GetName(), next))
}
