// Package gkeconfig keeps the status of GKEConfigs. GKE bootstraps the nodes of its pools itself, so that a GKEConfig is ready as soon as a
// MachinePool of a node pool owns it. Its data secret, which the core contract asks for, holds nothing.
package gkeconfig

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gkev1 "github.com/muster-project/muster/api/gcp/bootstrap/v1beta1"
	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/kube/infrapool/watch"
)

const (
	// keyData is the key of the data in a bootstrap data secret.
	keyData = "value"

	// The condition of GKEConfigs, and its reasons.
	conditionReady  = "Ready"
	reasonNotNeeded = "DataNotNeeded"
	reasonOtherKind = "InfrastructureNotSupported"
	reasonNameTaken = "DataSecretNameTaken"
	secretType      = corev1.SecretType("cluster.x-k8s.io/secret")
)

// Reconciler keeps the status of GKEConfigs.
type Reconciler struct {
	// Client of the management cluster. Secrets are read live, everything else from the cache.
	Client client.Client
	// WatchFilter is the value of the label cluster.x-k8s.io/watch-filter that objects must have; empty takes all.
	WatchFilter string
}

// +kubebuilder:rbac:groups=bootstrap.cluster.x-k8s.io,resources=gkeconfigs,verbs=get;list;watch
// +kubebuilder:rbac:groups=bootstrap.cluster.x-k8s.io,resources=gkeconfigs/status,verbs=get;update;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinepools;clusters,verbs=get;list;watch

// Reconcile brings the status of one GKEConfig to what its MachinePool says.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	o := &gkev1.GKEConfig{}
	if err := r.Client.Get(ctx, req.NamespacedName, o); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !o.DeletionTimestamp.IsZero() || r.WatchFilter != "" && o.Labels[clusterv1.WatchLabel] != r.WatchFilter {
		return ctrl.Result{}, nil
	}
	mp, err := r.owner(ctx, o)
	if err != nil || mp == nil {
		return ctrl.Result{}, err
	}
	cluster := &clusterv1.Cluster{}
	err = r.Client.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: mp.Spec.ClusterName}, cluster)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("read Cluster %s/%s: %w", o.Namespace, mp.Spec.ClusterName, err)
	}
	if err == nil && annotations.IsPaused(cluster, o) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.reconcile(ctx, o, mp)
}

// owner returns the MachinePool that owns a GKEConfig; nil while there is none.
func (r *Reconciler) owner(ctx context.Context, o *gkev1.GKEConfig) (*clusterv1.MachinePool, error) {
	name := watch.MachinePoolOwner(o)
	if name == "" {
		return nil, nil
	}
	mp := &clusterv1.MachinePool{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: name}, mp)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read MachinePool %s/%s: %w", o.Namespace, name, err)
	}
	return mp, nil
}

// reconcile keeps the data secret and writes the status.
func (r *Reconciler) reconcile(ctx context.Context, o *gkev1.GKEConfig, mp *clusterv1.MachinePool) error {
	before := o.DeepCopy()
	condition := metav1.Condition{Type: conditionReady, Status: metav1.ConditionFalse, ObservedGeneration: o.Generation}
	if ref := mp.Spec.Template.Spec.InfrastructureRef; ref.APIGroup != gcpv1.GroupVersion.Group ||
		ref.Kind != gcpv1.GCPManagedMachinePoolKind {
		condition.Reason, condition.Message = reasonOtherKind, fmt.Sprintf(
			"MachinePool %s has a %s: a GKEConfig is for a %s, whose nodes GKE bootstraps; name another bootstrap configuration", mp.Name, ref.Kind,
			gcpv1.GCPManagedMachinePoolKind)
	} else if err := r.secret(ctx, o, mp.Spec.ClusterName); apierrors.IsAlreadyExists(err) {
		condition.Reason, condition.Message = reasonNameTaken, fmt.Sprintf(
			"secret %s/%s exists and belongs to another owner: rename the GKEConfig or delete the secret", o.Namespace, o.Name)
	} else if err != nil {
		return err
	} else {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, reasonNotNeeded,
			"GKE bootstraps the nodes of its pools itself"
		o.Status.Ready, o.Status.Initialization.DataSecretCreated, o.Status.DataSecretName = true, new(true), &o.Name
	}
	o.Status.ObservedGeneration = o.Generation
	meta.SetStatusCondition(&o.Status.Conditions, condition)
	if equality.Semantic.DeepEqual(before.Status, o.Status) {
		return nil
	}
	if err := r.Client.Status().Patch(ctx, o, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("write the status of GKEConfig %s/%s: %w", o.Namespace, o.Name, err)
	}
	return nil
}

// secret makes the data secret unless it is there. The error is AlreadyExists if another owner has one of that name.
func (r *Reconciler) secret(ctx context.Context, o *gkev1.GKEConfig, cluster string) error {
	key := client.ObjectKeyFromObject(o)
	is := &corev1.Secret{}
	err := r.Client.Get(ctx, key, is)
	switch {
	case err == nil && metav1.IsControlledBy(is, o):
		return nil
	case err == nil:
		return apierrors.NewAlreadyExists(corev1.Resource("secrets"), key.Name)
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("read secret %s: %w", key, err)
	}
	is = &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(o, gkev1.GroupVersion.WithKind(gkev1.GKEConfigKind))}},
		Type: secretType, Data: map[string][]byte{keyData: {}},
	}
	if err := r.Client.Create(ctx, is); err != nil {
		return fmt.Errorf("create secret %s: %w", key, err)
	}
	return nil
}
