package agentpool

import (
	"encoding/json"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// agentPool is the infrastructure object of an agent pool, in one of the two kinds: the other is nil.
type agentPool struct {
	managed *aksv1.AzureManagedMachinePool
	aso     *aksv1.AzureASOManagedMachinePool
}

// agents returns an infrastructure object as what it is.
func agents(o client.Object) *agentPool {
	if aso, ok := o.(*aksv1.AzureASOManagedMachinePool); ok {
		return &agentPool{aso: aso}
	}
	return &agentPool{managed: o.(*aksv1.AzureManagedMachinePool)}
}

// newObject returns an object of the scenario's kind with nothing in it.
func (a *pool) newObject() client.Object {
	if own(a.World.Scenario).Manifest {
		return &aksv1.AzureASOManagedMachinePool{}
	}
	return &aksv1.AzureManagedMachinePool{}
}

// agentSpec holds the specification of an object of either kind, in the fields of an AzureManagedMachinePool.
type agentSpec = aksv1.AzureManagedMachinePoolSpec

func (a *agentPool) status() *common.Status {
	if a.aso != nil {
		return &a.aso.Status.Status
	}
	return &a.managed.Status.Status
}

// providerID returns the group that the object names, empty for none.
func (a *agentPool) providerID() string {
	if a.aso != nil {
		return a.aso.GetProviderID()
	}
	return a.managed.GetProviderID()
}

// spec returns what the object asks for.
func (a *agentPool) spec() agentSpec {
	if a.managed != nil {
		return *a.managed.Spec.DeepCopy()
	}
	var m manifest
	for _, r := range a.aso.Spec.Resources {
		if json.Unmarshal(r.Raw, &m) == nil {
			return m.agentSpec()
		}
	}
	return agentSpec{}
}

// edit changes what the object asks for.
func (a *agentPool) edit(change func(*agentSpec)) {
	if a.managed != nil {
		change(&a.managed.Spec)
		return
	}
	s := a.spec()
	change(&s)
	text, _ := json.Marshal(manifestOf(a.aso.Name, s)) // it is made of texts and numbers
	a.aso.Spec.Resources = []runtime.RawExtension{{Raw: text}}
}

// bounds returns the bounds of AKS's autoscaler, or of the pool's mode.
func (a *agentPool) bounds() (least, most int32) {
	s := a.spec()
	if s.Mode == aksv1.ModeSystem {
		least = 1
	}
	if s.Scaling == nil {
		return least, world.Plenty
	}
	return max(least, int32(ptr.Deref(s.Scaling.MinSize, 0))), int32(ptr.Deref(s.Scaling.MaxSize, world.Plenty))
}

// limits returns how many machines a rollout may add, and how many may be missing meanwhile.
func (a *agentPool) limits() (surge, unavailable oracle.Share) {
	l := &script.Limits{Surge: "10%", Unavailable: "0"}
	if u := a.spec().UpgradeSettings; u != nil {
		l.Surge, l.Unavailable = ptr.Deref(u.MaxSurge, l.Surge), ptr.Deref(u.MaxUnavailable, l.Unavailable)
	}
	r := l.Spec().RollingUpdate
	return world.Share(r.MaxSurge), world.Share(r.MaxUnavailable)
}

// manifest is an agent pool as Azure Service Operator has it.
type manifest struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       manifestSpec      `json:"spec"`
}

type manifestSpec struct {
	AzureName         string                 `json:"azureName"`
	Owner             map[string]string      `json:"owner"`
	Mode              string                 `json:"mode"`
	Type              string                 `json:"type"`
	VMSize            string                 `json:"vmSize"`
	ScaleDownMode     *string                `json:"scaleDownMode,omitempty"`
	Tags              map[string]string      `json:"tags,omitempty"`
	NodeLabels        map[string]string      `json:"nodeLabels"`
	NodeTaints        []string               `json:"nodeTaints"`
	EnableAutoScaling *bool                  `json:"enableAutoScaling,omitempty"`
	MinCount          *int                   `json:"minCount,omitempty"`
	MaxCount          *int                   `json:"maxCount,omitempty"`
	UpgradeSettings   *aksv1.UpgradeSettings `json:"upgradeSettings,omitempty"`
	NodeImageVersion  *string                `json:"nodeImageVersion,omitempty"`
	ScaleSetPriority  *string                `json:"scaleSetPriority,omitempty"`
}

func manifestOf(name string, s agentSpec) manifest {
	out := manifest{
		APIVersion: aksv1.ServiceGroup + "/v1api20240901", Kind: aksv1.AgentPoolManifestKind,
		Metadata: map[string]string{"name": world.ClusterName + "-" + name},
		Spec: manifestSpec{
			AzureName: name, Owner: map[string]string{"name": world.ClusterName}, Mode: s.Mode, Type: "VirtualMachineScaleSets",
			VMSize:        s.SKU,
			ScaleDownMode: s.ScaleDownMode, Tags: maps.Clone(s.AdditionalTags), NodeLabels: s.NodeLabels, UpgradeSettings: s.UpgradeSettings,
			EnableAutoScaling: ptr.To(s.Scaling != nil), NodeTaints: []string{}, NodeImageVersion: s.NodeImageVersion,
			ScaleSetPriority: s.ScaleSetPriority,
		},
	}
	if out.Spec.NodeLabels == nil {
		out.Spec.NodeLabels = map[string]string{} // what a manifest does not say stays as it is
	}
	for _, t := range s.Taints {
		out.Spec.NodeTaints = append(out.Spec.NodeTaints, t.Key+"="+t.Value+":"+t.Effect)
	}
	if s.Scaling != nil {
		out.Spec.MinCount, out.Spec.MaxCount = s.Scaling.MinSize, s.Scaling.MaxSize
	}
	return out
}

func (m manifest) agentSpec() agentSpec {
	out := agentSpec{
		Mode: m.Spec.Mode, SKU: m.Spec.VMSize, ScaleDownMode: m.Spec.ScaleDownMode, AdditionalTags: azurev1.Tags(m.Spec.Tags),
		NodeLabels:      m.Spec.NodeLabels,
		UpgradeSettings: m.Spec.UpgradeSettings, NodeImageVersion: m.Spec.NodeImageVersion, ScaleSetPriority: m.Spec.ScaleSetPriority,
	}
	for _, text := range m.Spec.NodeTaints {
		pair, effect, _ := strings.Cut(text, ":")
		key, value, _ := strings.Cut(pair, "=")
		out.Taints = append(out.Taints, aksv1.Taint{Key: key, Value: value, Effect: effect})
	}
	if ptr.Deref(m.Spec.EnableAutoScaling, false) {
		out.Scaling = &aksv1.ManagedMachinePoolScaling{MinSize: m.Spec.MinCount, MaxSize: m.Spec.MaxCount}
	}
	return out
}

// setRollout sets how machines are to be replaced: AKS replaces changed ones, and Muster those to restart.
func (a *pool) setRollout(mp *clusterv1.MachinePool, o client.Object, desired *oracle.Desired) {
	is := agents(o)
	desired.Deleting = desired.Deleting || mp != nil && !mp.DeletionTimestamp.IsZero()
	if own(a.World.Scenario).System && !a.World.Notes.EverDisowned() || a.World.Notes.EverDisowned() && is.providerID() == "" {
		desired.Adopt = a.World.InfraKey().Name // without being asked: it is younger than the object, which does not name it yet
	}
	desired.ReplacedByMuster, desired.External = true, desired.External || is.spec().Scaling != nil
	desired.Surge, desired.Unavailable = is.limits()
	if desired.Surge.N == 0 && desired.Replicas <= desired.Min {
		desired.Surge.N = 1 // AKS takes no machine that its least number needs
	}
}

// edits returns the changes that users make to the object. Its limits are a field of the pool.
func (a *pool) edits() world.Edits {
	size := func(text string) func(client.Object) {
		return func(o client.Object) { agents(o).edit(func(s *agentSpec) { s.SKU = text }) }
	}
	back := size(a.agentSpec().SKU)
	return world.Edits{
		Template: func(o client.Object, n int) { size(sizes[n%len(sizes)])(o) },
		Bad:      size(azure.BadType),
		Back:     back,
		Type:     func(o client.Object) string { return agents(o).spec().SKU },
		Group:    func(o client.Object, n, m int) { agents(o).edit(func(s *agentSpec) { agentEdit(s, n, m) }) },
		Upgrade:  a.plane.Upgrade,
	}
}
