package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/skew"
)

// lookTimeout bounds the reads of one admission, below the ten seconds that an API server waits for it.
const lookTimeout = 3 * time.Second

// findings holds the results of comparing a write with other objects of the pool's cluster.
type findings struct {
	warnings []string
	refused  field.ErrorList
}

func (a *findings) warn(path *field.Path, format string, args ...any) {
	a.warnings = append(a.warnings, fmt.Sprintf("%s: %s", path, fmt.Sprintf(format, args...)))
}

// unchecked refuses a reference that could not be compared with what it must not lead to.
func (a *findings) unchecked(path *field.Path, with string, err error) {
	a.refused = append(a.refused, field.InternalError(path, fmt.Errorf("can't be compared with %s: %w: apply it again", with, err)))
}

// compareRelated compares the changed parts of a write with other objects, and reads nothing for a write that changes none of them. Missing
// objects reject nothing, because manifests are applied in any order. A failed read rejects only a changed reference, which could lead to
// an object that the user may not read: an unreadable control plane does not prevent a user from scaling a pool.
func (v poolValidator) compareRelated(ctx context.Context, old, pool *clusterv1.MachinePool) *findings {
	if old == nil {
		old = &clusterv1.MachinePool{}
	}
	a := &findings{}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if v.live != nil { // first, because the other reads may take all of the time
		v.kinds(ctx, a, old, pool)
		v.dataSecret(ctx, a, old, pool)
	}
	if v.reader != nil && !slices.Equal(old.Spec.ProviderIDList, pool.Spec.ProviderIDList) {
		v.lookAtPools(ctx, a, old, pool)
	}
	version := old.Spec.Template.Spec.Version != pool.Spec.Template.Spec.Version
	domains := !slices.Equal(old.Spec.FailureDomains, pool.Spec.FailureDomains)
	if v.live == nil || (!version && !domains) {
		return a
	}
	cluster := &clusterv1.Cluster{}
	err := v.live.Get(ctx, client.ObjectKey{Namespace: pool.Namespace, Name: pool.Spec.ClusterName}, cluster)
	switch {
	case apierrors.IsNotFound(err):
		return a
	case err != nil:
		a.warn(field.NewPath("spec", "clusterName"), "not compared with Cluster %s: %v", pool.Spec.ClusterName, err)
		return a
	}
	if domains {
		a.domains(cluster, pool.Spec.FailureDomains)
	}
	if version {
		v.version(ctx, a, cluster, old, pool)
	}
	return a
}

// kinds refuses changed references to kinds whose CustomResourceDefinition does not follow the contract of the field. A provider that
// is not installed yet refuses nothing: the controller looks again.
func (v poolValidator) kinds(ctx context.Context, a *findings, old, pool *clusterv1.MachinePool) {
	path := field.NewPath("spec", "template", "spec")
	was := references(path, &old.Spec.Template.Spec)
	for i, ref := range references(path, &pool.Spec.Template.Spec) {
		if !ref.to.IsDefined() || ref.to.GroupKind() == was[i].to.GroupKind() || ref.role.Names(ref.to.GroupKind()) != nil {
			continue
		}
		switch err := ref.role.Follows(ctx, v.live, ref.to.GroupKind()); {
		case err == nil, errors.Is(err, contract.ErrNoKind):
		case errors.Is(err, contract.ErrOutside), errors.Is(err, contract.ErrNoVersion):
			a.refused = append(a.refused, field.Invalid(ref.path, ref.to.Kind, err.Error()))
		default:
			a.unchecked(ref.path, "the contract of its kind", err)
		}
	}
}

// dataSecret refuses a changed bootstrap data secret that holds the credentials of another Cluster of the namespace. Those of the pool's
// own Cluster are refused by the rules.
func (v poolValidator) dataSecret(ctx context.Context, a *findings, old, pool *clusterv1.MachinePool) {
	name := ptr.Deref(pool.Spec.Template.Spec.Bootstrap.DataSecretName, "")
	if name == ptr.Deref(old.Spec.Template.Spec.Bootstrap.DataSecretName, "") {
		return
	}
	path := field.NewPath("spec", "template", "spec", "bootstrap", "dataSecretName")
	for _, cluster := range contract.ClustersOf(name) {
		if cluster == pool.Spec.Template.Spec.ClusterName {
			continue
		}
		switch err := v.live.Get(ctx, client.ObjectKey{Namespace: pool.Namespace, Name: cluster}, &clusterv1.Cluster{}); {
		case err == nil:
			a.refused = append(a.refused, field.Invalid(path, name, contract.CredentialsText(name, cluster)))
		case !apierrors.IsNotFound(err):
			a.unchecked(path, "the credentials of Cluster "+cluster, err)
		}
	}
}

func (v poolValidator) lookAtPools(ctx context.Context, a *findings, old, pool *clusterv1.MachinePool) {
	refused, err := v.overlaps(ctx, old, pool)
	if err != nil {
		a.warn(providerIDs(), "not compared with those of other pools: %v", err)
	}
	a.refused = append(a.refused, refused...)
}

// version refuses a version that the control plane can't serve, unless an annotation says otherwise. One that comes nearer to
// what can be served is taken, so that a pool which fell behind can be brought up one minor version at a time. What counts
// is the version that the control plane asks for, not the one that it has reached: a user who raises both raises them at once.
func (v poolValidator) version(ctx context.Context, a *findings, cluster *clusterv1.Cluster, old, pool *clusterv1.MachinePool) {
	path := field.NewPath("spec", "template", "spec", "version")
	plane, err := skew.Read(ctx, skew.GetterFor(v.live), v.reader, cluster)
	if err != nil {
		a.warn(path, "not compared with the control plane's: %v", err)
		return
	}
	found := skew.Between(pool.Spec.Template.Spec.Version, plane)
	if found == nil {
		return
	}
	was := skew.Between(old.Spec.Template.Spec.Version, plane)
	switch {
	case pool.Annotations[skew.Annotation] == skew.Skip:
		a.warn(path, "%s; taken for the annotation %s: %s", found, skew.Annotation, skew.Skip)
	case !found.Exceeds(was):
		a.warn(path, "%s; taken because %s was no nearer", found, was.Version)
	default:
		a.refused = append(a.refused, field.Invalid(path, pool.Spec.Template.Spec.Version,
			fmt.Sprintf("%s; change the control plane first, or set the annotation %s: %s", found, skew.Annotation, skew.Skip)))
	}
}

// domains warns of failure domains that the cluster does not have. A cluster that names none has not looked yet, or is in a
// cloud that has none.
func (a *findings) domains(cluster *clusterv1.Cluster, wanted []string) {
	if len(cluster.Status.FailureDomains) == 0 {
		return
	}
	var names []string
	for _, d := range cluster.Status.FailureDomains {
		names = append(names, d.Name)
	}
	for i, name := range wanted {
		if !slices.Contains(names, name) {
			a.warn(field.NewPath("spec", "failureDomains").Index(i), "%s is none of the failure domains of Cluster %s: %s", name, cluster.Name,
				strings.Join(names, ", "))
		}
	}
}
