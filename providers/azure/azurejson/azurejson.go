// Package azurejson keeps, for every AzureMachinePool, the secret with the configuration that the cloud provider on its
// machines reads from /etc/kubernetes/azure.json. A KubeadmConfig takes the file from there, by the name and the keys that the
// ecosystem knows. Azure is never called.
package azurejson

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/providers/azure/azureidentity"
)

const (
	// Suffix of the secret's name behind that of the AzureMachinePool.
	Suffix = "-azure-json"
	// KeyWorker is the key of the configuration that is meant for the pool's machines.
	KeyWorker = "worker-node-azure.json"
	// KeyControlPlane holds the same: manifests of the ecosystem name it.
	KeyControlPlane = "control-plane-azure.json"
	// KeyCompatible holds the same: older manifests name it.
	KeyCompatible = "azure.json"

	// owned is the value of the label by the cluster's name on a secret that Muster owns. One without it was created by a client that
	// wants another configuration, and stays as it is.
	owned = "owned"
	// retry is the delay before a secret is read again that another client has just written.
	retry = 50 * time.Millisecond
	// clusterKind is the infrastructure of clusters whose machines need the configuration.
	clusterKind = "AzureCluster"
)

// The reasons of events.
const (
	reasonPassword = "VMIdentityNone"
	reasonWritten  = "AzureJSONWritten"
	reasonHeld     = "AzureJSONHeld"
)

// Reconciler keeps the secrets.
type Reconciler struct {
	// Client of the management cluster. Secrets are read live, everything else from the cache.
	Client client.Client
	// Recorder of events; nil records none.
	Recorder events.EventRecorder
	// WatchFilter is the value of the label cluster.x-k8s.io/watch-filter that objects must have; empty takes all.
	WatchFilter string
	// IdentityNamespace is the namespace of the secrets of cluster-scoped identities.
	IdentityNamespace string
	// OwnCredentials are the namespaces that may use the manager's own credentials; nil is every namespace.
	OwnCredentials *common.AllowedNamespaces
	// Defaults are the controller's own settings.
	Defaults Defaults

	sources *identity.Sources
	// lastCause holds, by object, the reason in the last event about a secret that is not written, so that a repeated one emits no event.
	lastCause sync.Map
}

// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachinepools;azureclusters;azureclusteridentities,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinepools;clusters,verbs=get;list;watch

// Reconcile brings one pool's secret to what its cluster and identity say.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	o := &azurev1.AzureMachinePool{}
	if err := r.Client.Get(ctx, req.NamespacedName, o); err != nil {
		r.reads().Use(req.NamespacedName, nil)
		r.lastCause.Delete(req.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !o.DeletionTimestamp.IsZero() || r.WatchFilter != "" && o.Labels[clusterv1.WatchLabel] != r.WatchFilter {
		return ctrl.Result{}, nil
	}
	err := r.reconcile(ctx, o)
	var refused *identity.Error
	switch {
	case errors.As(err, &refused):
		// Whatever is missing wakes the object when it comes. Until then the secret stays as it is.
		if last, _ := r.lastCause.Swap(req.NamespacedName, refused.Cause); last != refused.Cause {
			r.event(o, corev1.EventTypeWarning, refused.Cause.Reason, "Secret %s%s is not written: %s", o.Name, Suffix, refused.Cause.Message)
		}
		return ctrl.Result{}, nil
	case control.IsOnlyConflict(err):
		// Another client was faster, which is not reported: its change is read next.
		return ctrl.Result{RequeueAfter: retry}, nil
	case err == nil:
		r.lastCause.Delete(req.NamespacedName)
	}
	return ctrl.Result{}, err
}

// reconcile keeps the secret of a pool whose cluster needs one. An IdentityError names what has to be changed first.
func (r *Reconciler) reconcile(ctx context.Context, o *azurev1.AzureMachinePool) error {
	cluster, err := r.cluster(ctx, o)
	if err != nil || cluster == nil || annotations.IsPaused(cluster, o) {
		return err
	}
	is, err := r.content(ctx, o, cluster)
	if err != nil || is == nil {
		return err
	}
	return r.keep(ctx, o, cluster.Name, is)
}

// reads are the sources, made when they are first needed.
func (r *Reconciler) reads() *identity.Sources {
	if r.sources == nil {
		r.sources = identity.NewSources(r.Client, r.IdentityNamespace)
		r.sources.OwnCredentials = r.OwnCredentials
	}
	return r.sources
}

// cluster is that of the MachinePool which refers to the object; nil while there is none.
func (r *Reconciler) cluster(ctx context.Context, o *azurev1.AzureMachinePool) (*clusterv1.Cluster, error) {
	pools := &clusterv1.MachinePoolList{}
	value := watch.InfrastructureValue(azurev1.GroupVersion.Group, azurev1.AzureMachinePoolKind, o.Name)
	if err := r.Client.List(ctx, pools, client.InNamespace(o.Namespace), client.MatchingFields{watch.InfrastructureField: value}); err != nil {
		return nil, fmt.Errorf("look up the MachinePool of AzureMachinePool %s/%s: %w", o.Namespace, o.Name, err)
	}
	if len(pools.Items) != 1 {
		return nil, nil
	}
	cluster := &clusterv1.Cluster{}
	key := client.ObjectKey{Namespace: o.Namespace, Name: pools.Items[0].Spec.ClusterName}
	if err := r.Client.Get(ctx, key, cluster); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("read Cluster %s: %w", key, err)
	}
	return cluster, nil
}

// content is the desired content of a secret.
type content struct {
	data map[string][]byte
	// password is true if it authenticates to Azure by a password.
	password bool
}

// content returns the desired content of the pool's secret; nil if the cluster needs none.
func (r *Reconciler) content(ctx context.Context, o *azurev1.AzureMachinePool, cluster *clusterv1.Cluster) (*content, error) {
	ref := cluster.Spec.InfrastructureRef
	if ref.Kind != clusterKind || ref.APIGroup != azurev1.GroupVersion.Group {
		return nil, nil
	}
	from := r.reads().Of(client.ObjectKeyFromObject(o))
	defer func() { r.reads().Use(client.ObjectKeyFromObject(o), from) }()
	place, err := from.Object(ctx, schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind},
		client.ObjectKey{Namespace: o.Namespace, Name: ref.Name})
	if err != nil {
		return nil, err
	}
	c, err := r.config(ctx, o, place, from)
	if err != nil {
		return nil, err
	}
	text, err := c.text()
	if err != nil {
		return nil, err
	}
	return &content{data: map[string][]byte{KeyWorker: text, KeyControlPlane: text, KeyCompatible: text},
		password: c.AADClientSecret != ""}, nil
}

// config returns the configuration derived from the pool, its cluster and the referenced identity. An input that is missing or invalid is
// reported as an *identity.Error: the configuration waits for a change by the user.
func (r *Reconciler) config(ctx context.Context, o *azurev1.AzureMachinePool, place *unstructured.Unstructured,
	from *identity.Credentials) (*config, error) {
	view, err := azurev1.ClusterViewOf(place)
	if err != nil {
		return nil, identity.Errorf(reasonHeld, "%v", err)
	}
	if _, err := azureidentity.Identify(ctx, identity.Referrer{InfraCluster: place}, from, &view); err != nil {
		return nil, err
	}
	c, err := configOf(&o.Spec, &view, place, r.Defaults)
	if err != nil {
		return nil, identity.Errorf(reasonHeld, "%v", err)
	}
	return c, nil
}

// keep makes the secret, or brings the one that is ours to what it has to hold.
func (r *Reconciler) keep(ctx context.Context, o *azurev1.AzureMachinePool, cluster string, want *content) error {
	key := client.ObjectKey{Namespace: o.Namespace, Name: o.Name + Suffix}
	is := &corev1.Secret{}
	err := r.Client.Get(ctx, key, is)
	switch {
	case apierrors.IsNotFound(err):
		is = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		setSecret(is, o, cluster, want.data)
		if err := r.Client.Create(ctx, is); err != nil {
			return fmt.Errorf("create secret %s: %w", key, err)
		}
	case err != nil:
		return fmt.Errorf("read secret %s: %w", key, err)
	case is.Labels[cluster] != owned:
		return nil
	default:
		before := is.DeepCopy()
		setSecret(is, o, cluster, want.data)
		if equality.Semantic.DeepEqual(before, is) {
			return nil
		}
		if err := r.Client.Patch(ctx, is, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return fmt.Errorf("write secret %s: %w", key, err)
		}
	}
	r.event(o, corev1.EventTypeNormal, reasonWritten, "Secret %s holds the cloud provider's configuration", key.Name)
	if want.password {
		r.event(o, corev1.EventTypeWarning, reasonPassword,
			"The cloud provider's password for Azure lies on the disk of every machine, because spec.identity is None; "+
				"SystemAssigned and UserAssigned need none")
	}
	return nil
}

// setSecret gives the secret its content, its labels and its owner, and leaves what others added.
func setSecret(s *corev1.Secret, o *azurev1.AzureMachinePool, cluster string, data map[string][]byte) {
	s.Data = data
	s.Labels = maps.Clone(s.Labels)
	if s.Labels == nil {
		s.Labels = map[string]string{}
	}
	s.Labels[cluster] = owned
	// Secrets with this label are watched, so that one that is changed or deleted by hand is put right.
	s.Labels[clusterv1.ClusterNameLabel] = cluster
	owner := metav1.OwnerReference{
		APIVersion: azurev1.GroupVersion.String(), Kind: azurev1.AzureMachinePoolKind, Name: o.Name, UID: o.UID, Controller: new(true),
	}
	s.OwnerReferences = slices.DeleteFunc(slices.Clone(s.OwnerReferences), func(ref metav1.OwnerReference) bool {
		group, err := schema.ParseGroupVersion(ref.APIVersion)
		return err == nil && group.Group == azurev1.GroupVersion.Group && ref.Kind == owner.Kind && ref.Name == owner.Name && ref.UID != owner.UID
	})
	if !slices.ContainsFunc(s.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == owner.UID }) {
		s.OwnerReferences = append(s.OwnerReferences, owner)
	}
}

func (r *Reconciler) event(o *azurev1.AzureMachinePool, kind, reason, format string, args ...any) {
	if r.Recorder != nil {
		r.Recorder.Eventf(o, nil, kind, reason, reason, format, args...)
	}
}
