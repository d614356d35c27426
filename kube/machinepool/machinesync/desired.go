package machinesync

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/labels/format"

	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machinepool/reference"
)

// fromPoolAnnotation on a Machine records what the Machine has from the pool's template. What the template no longer has is removed from
// the Machine, and what other clients have added stays.
const fromPoolAnnotation = "muster.dev/from-pool"

// fromPool is the value of fromPoolAnnotation: keys of labels and annotations, condition types of readiness gates, and taints
// as KEY:EFFECT, each sorted.
type fromPool struct {
	Labels      []string `json:"labels,omitempty"`
	Annotations []string `json:"annotations,omitempty"`
	Gates       []string `json:"gates,omitempty"`
	Taints      []string `json:"taints,omitempty"`
}

func (f fromPool) empty() bool {
	return len(f.Labels)+len(f.Annotations)+len(f.Gates)+len(f.Taints) == 0
}

// applyTemplate changes a Machine into what it has to be: its owner, its infrastructure machine, and what the pool's template sets.
// Timeouts are also set on Machines that are being deleted, because users change them when a deletion takes too long. node is the Node of
// the machine, nil if there is none.
func applyTemplate(m *clusterv1.Machine, pool *clusterv1.MachinePool, member members.Member, node *corev1.Node) error {
	var last fromPool
	if s := m.Annotations[fromPoolAnnotation]; s != "" {
		if err := json.Unmarshal([]byte(s), &last); err != nil {
			// The record is lost; nothing is removed then.
			last = fromPool{}
		}
	}
	template := &pool.Spec.Template
	now := fromPool{
		Labels:      slices.Sorted(maps.Keys(template.Labels)),
		Annotations: slices.Sorted(maps.Keys(template.Annotations)),
		Gates:       members.Keys(template.Spec.ReadinessGates, members.GateKey),
		Taints:      members.Keys(template.Spec.Taints, members.TaintKey),
	}
	m.OwnerReferences = reference.WithController(m.OwnerReferences, pool)
	m.Labels = members.MergeMap(m.Labels, template.Labels, last.Labels)
	m.Labels[clusterv1.ClusterNameLabel] = pool.Spec.ClusterName
	m.Labels[clusterv1.MachinePoolNameLabel] = format.MustFormatValue(pool.Name)
	if filter, ok := pool.Labels[clusterv1.WatchLabel]; ok {
		m.Labels[clusterv1.WatchLabel] = filter
	}
	m.Annotations = members.MergeMap(m.Annotations, template.Annotations, last.Annotations)
	if err := record(m, now); err != nil {
		return err
	}
	applySpec(m, pool, member, node)
	m.Spec.ReadinessGates = members.MergeList(m.Spec.ReadinessGates, template.Spec.ReadinessGates, last.Gates, members.GateKey)
	m.Spec.Taints = members.MergeList(m.Spec.Taints, template.Spec.Taints, last.Taints, members.TaintKey)
	return nil
}

// record records on a Machine what it has from the template.
func record(m *clusterv1.Machine, now fromPool) error {
	if now.empty() {
		delete(m.Annotations, fromPoolAnnotation)
		return nil
	}
	value, err := json.Marshal(now)
	if err != nil {
		return fmt.Errorf("encode annotation %s: %w", fromPoolAnnotation, err)
	}
	m.Annotations[fromPoolAnnotation] = string(value)
	return nil
}

// applySpec sets what the spec of a Machine has from the pool and from its infrastructure machine. The version is the one that the Node
// runs, because a Machine of a pool shows what exists; the failure domain is the one that the infrastructure machine reports.
func applySpec(m *clusterv1.Machine, pool *clusterv1.MachinePool, member members.Member, node *corev1.Node) {
	template := pool.Spec.Template.Spec
	m.Spec.ClusterName = pool.Spec.ClusterName
	if m.Spec.Bootstrap.DataSecretName == nil && !m.Spec.Bootstrap.ConfigRef.IsDefined() {
		none := ""
		m.Spec.Bootstrap.DataSecretName = &none
	}
	zone := template.FailureDomain
	if infra := member.Infra; infra != nil {
		m.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
			APIGroup: infra.GroupVersionKind().Group, Kind: infra.GetKind(), Name: infra.GetName()}
		zone = cmp.Or(reference.NestedString(infra, "spec", "failureDomain"), reference.NestedString(infra, "status", "failureDomain"), zone)
	}
	m.Spec.FailureDomain = cmp.Or(zone, m.Spec.FailureDomain)
	if node != nil && isVersion(node.Status.NodeInfo.KubeletVersion) {
		m.Spec.Version = node.Status.NodeInfo.KubeletVersion
	}
	m.Spec.MinReadySeconds = clone(template.MinReadySeconds)
	m.Spec.Deletion.NodeDrainTimeoutSeconds = clone(template.Deletion.NodeDrainTimeoutSeconds)
	m.Spec.Deletion.NodeVolumeDetachTimeoutSeconds = clone(template.Deletion.NodeVolumeDetachTimeoutSeconds)
	if limit := template.Deletion.NodeDeletionTimeoutSeconds; limit != nil {
		// Admission sets a default where the template sets nothing.
		m.Spec.Deletion.NodeDeletionTimeoutSeconds = clone(limit)
	}
}

// isVersion reports whether a Machine may have a version: admission rejects others.
func isVersion(v string) bool {
	if v == "" || v[0] != 'v' {
		return false
	}
	_, err := semver.Parse(v[1:])
	return err == nil
}

func clone[T any](v *T) *T {
	if v == nil {
		return nil
	}
	c := *v
	return &c
}
