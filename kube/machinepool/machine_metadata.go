package machinepool

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/labels/format"
)

// fromPoolAnnotation on a Machine names what it has of the pool's template, so that what the template no longer has is taken
// off the Machine again, and what somebody else has put there stays.
const fromPoolAnnotation = "muster.dev/from-pool"

// fromPool is the value of fromPoolAnnotation: keys of labels and annotations, condition types of readiness gates, and taints
// as KEY:EFFECT, each in order.
type fromPool struct {
	Labels      []string `json:"labels,omitempty"`
	Annotations []string `json:"annotations,omitempty"`
	Gates       []string `json:"gates,omitempty"`
	Taints      []string `json:"taints,omitempty"`
}

func (f fromPool) empty() bool {
	return len(f.Labels)+len(f.Annotations)+len(f.Gates)+len(f.Taints) == 0
}

// applyMetadata writes into a Machine what it has to have: who owns it, what it stands for, and what the pool's template says. Timeouts
// are written into Machines that are being deleted too: that is when people change them.
func (p *pass) applyMetadata(m *clusterv1.Machine, of member, found map[string]*corev1.Node) error {
	var last fromPool
	if s := m.Annotations[fromPoolAnnotation]; s != "" {
		if err := json.Unmarshal([]byte(s), &last); err != nil {
			// What it said is lost; nothing is taken off then.
			last = fromPool{}
		}
	}
	template := &p.pool.Spec.Template
	now := fromPool{
		Labels:      slices.Sorted(maps.Keys(template.Labels)),
		Annotations: slices.Sorted(maps.Keys(template.Annotations)),
		Gates:       keysOf(template.Spec.ReadinessGates, gateKey),
		Taints:      keysOf(template.Spec.Taints, taintKey),
	}
	p.own(m)
	m.Labels = withKeys(m.Labels, template.Labels, last.Labels)
	m.Labels[clusterv1.ClusterNameLabel] = p.pool.Spec.ClusterName
	m.Labels[clusterv1.MachinePoolNameLabel] = format.MustFormatValue(p.pool.Name)
	if filter, ok := p.pool.Labels[clusterv1.WatchLabel]; ok {
		m.Labels[clusterv1.WatchLabel] = filter
	}
	m.Annotations = withKeys(m.Annotations, template.Annotations, last.Annotations)
	if err := note(m, now); err != nil {
		return err
	}
	p.dressSpec(m, of, found)
	m.Spec.ReadinessGates = withItems(m.Spec.ReadinessGates, template.Spec.ReadinessGates, last.Gates, gateKey)
	m.Spec.Taints = withItems(m.Spec.Taints, template.Spec.Taints, last.Taints, taintKey)
	return nil
}

// note writes down what the Machine has of the template.
func note(m *clusterv1.Machine, now fromPool) error {
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

// own makes the pool the controller of a Machine. A reference to the pool as it was before a restore from a backup goes: an
// object has one controller.
func (p *pass) own(m *clusterv1.Machine) {
	refs := slices.DeleteFunc(slices.Clone(m.OwnerReferences), func(ref metav1.OwnerReference) bool {
		return p.is(&ref) && ref.UID != p.pool.UID
	})
	for i := range refs {
		if refs[i].UID == p.pool.UID && refs[i].Controller != nil && *refs[i].Controller {
			m.OwnerReferences = refs
			return
		}
	}
	refs = slices.DeleteFunc(refs, func(ref metav1.OwnerReference) bool { return ref.UID == p.pool.UID })
	m.OwnerReferences = append(refs, *metav1.NewControllerRef(p.pool, clusterv1.GroupVersion.WithKind("MachinePool")))
}

// dressSpec writes what the Machine's specification has of the pool and of its infrastructure machine. Its version is that of
// the Node, for a Machine of a pool says what is; its zone is where it is, in the words of its infrastructure machine.
func (p *pass) dressSpec(m *clusterv1.Machine, of member, found map[string]*corev1.Node) {
	template := p.pool.Spec.Template.Spec
	m.Spec.ClusterName = p.pool.Spec.ClusterName
	if m.Spec.Bootstrap.DataSecretName == nil && !m.Spec.Bootstrap.ConfigRef.IsDefined() {
		none := ""
		m.Spec.Bootstrap.DataSecretName = &none
	}
	zone := template.FailureDomain
	if of.infra != nil {
		m.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
			APIGroup: of.infra.GroupVersionKind().Group, Kind: of.infra.GetKind(), Name: of.infra.GetName()}
		zone = first(text(of.infra, "spec", "failureDomain"), text(of.infra, "status", "failureDomain"), zone)
	}
	m.Spec.FailureDomain = first(zone, m.Spec.FailureDomain)
	if node := of.node(found); node != nil && isVersion(node.Status.NodeInfo.KubeletVersion) {
		m.Spec.Version = node.Status.NodeInfo.KubeletVersion
	}
	m.Spec.MinReadySeconds = clone(template.MinReadySeconds)
	m.Spec.Deletion.NodeDrainTimeoutSeconds = clone(template.Deletion.NodeDrainTimeoutSeconds)
	m.Spec.Deletion.NodeVolumeDetachTimeoutSeconds = clone(template.Deletion.NodeVolumeDetachTimeoutSeconds)
	if limit := template.Deletion.NodeDeletionTimeoutSeconds; limit != nil {
		// Admission sets a default where the template says nothing.
		m.Spec.Deletion.NodeDeletionTimeoutSeconds = clone(limit)
	}
}

// isVersion says that a Machine may carry a version: admission refuses others.
func isVersion(v string) bool {
	if v == "" || v[0] != 'v' {
		return false
	}
	_, err := semver.Parse(v[1:])
	return err == nil
}

func first(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

func clone[T any](v *T) *T {
	if v == nil {
		return nil
	}
	c := *v
	return &c
}

func gateKey(g clusterv1.MachineReadinessGate) string { return g.ConditionType }

func taintKey(t clusterv1.MachineTaint) string { return t.Key + ":" + string(t.Effect) }

func keysOf[T any](items []T, key func(T) string) []string {
	keys := make([]string, 0, len(items))
	for _, item := range items {
		keys = append(keys, key(item))
	}
	slices.Sort(keys)
	return keys
}

// withKeys is a map with all that is wanted, without what was wanted last and is no more. It is never nil.
func withKeys(have, want map[string]string, last []string) map[string]string {
	all := maps.Clone(have)
	if all == nil {
		all = map[string]string{}
	}
	for _, k := range last {
		delete(all, k)
	}
	maps.Copy(all, want)
	return all
}

// withItems is a list with all that is wanted, without what was wanted last and is no more; what others have put there stays.
func withItems[T any](have, want []T, last []string, key func(T) string) []T {
	wanted := make(map[string]T, len(want))
	for _, item := range want {
		wanted[key(item)] = item
	}
	var all []T
	for _, item := range have {
		k := key(item)
		if w, ok := wanted[k]; ok {
			all = append(all, w)
			delete(wanted, k)
		} else if !slices.Contains(last, k) {
			all = append(all, item)
		}
	}
	for _, item := range want {
		if _, ok := wanted[key(item)]; ok {
			all = append(all, item)
			delete(wanted, key(item))
		}
	}
	return all
}
