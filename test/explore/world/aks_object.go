package world

import (
	"encoding/json"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/test/explore/oracle"
)

// AgentPoolKind is the kind of the object of an agent pool of AKS: AzureManagedMachinePool or AzureASOManagedMachinePool.
type AgentPoolKind string

// onAKS reports whether the pool is an agent pool of AKS.
func (s Scenario) onAKS() bool { return s.AgentPool != "" }

// InAzure reports whether the simulated cloud is Azure.
func (s Scenario) InAzure() bool { return s.onAzure() || s.onAKS() }

// agentPool is the infrastructure object of an agent pool, in one of the two kinds: the other is nil.
type agentPool struct {
	managed *aksv1.AzureManagedMachinePool
	aso     *aksv1.AzureASOManagedMachinePool
}

// newAgentPool returns an object of the kind with nothing in it.
func newAgentPool(kind AgentPoolKind) *infra {
	if kind == aksv1.AzureASOManagedMachinePoolKind {
		o := &aksv1.AzureASOManagedMachinePool{}
		return &infra{Object: o, agents: &agentPool{aso: o}}
	}
	o := &aksv1.AzureManagedMachinePool{}
	return &infra{Object: o, agents: &agentPool{managed: o}}
}

// agentSpec is what an object of either kind asks for, in the words of an AzureManagedMachinePool.
type agentSpec = aksv1.AzureManagedMachinePoolSpec

// object returns the object that the API server keeps.
func (a *agentPool) object() client.Object {
	if a.aso != nil {
		return a.aso
	}
	return a.managed
}

func (a *agentPool) status() *common.Status {
	if a.aso != nil {
		return &a.aso.Status.Status
	}
	return &a.managed.Status.Status
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
	text, _ := json.Marshal(manifestOf(s)) // it is made of texts and numbers
	a.aso.Spec.Resources = []runtime.RawExtension{{Raw: text}}
}

// bounds are those of AKS's autoscaler, or of the pool's mode.
func (a *agentPool) bounds() (least, most int32) {
	s := a.spec()
	if s.Mode == aksv1.ModeSystem {
		least = 1
	}
	if s.Scaling == nil {
		return least, plenty
	}
	return max(least, int32(ptr.Deref(s.Scaling.MinSize, 0))), int32(ptr.Deref(s.Scaling.MaxSize, plenty))
}

// limits are how many machines a replacement may add, and how many it may have missing.
func (a *agentPool) limits() (surge, unavailable oracle.Share) {
	l := &Limits{Surge: "10%", Unavailable: "0"}
	if u := a.spec().UpgradeSettings; u != nil {
		l.Surge, l.Unavailable = ptr.Deref(u.MaxSurge, l.Surge), ptr.Deref(u.MaxUnavailable, l.Unavailable)
	}
	r := l.spec().RollingUpdate
	return share(r.MaxSurge), share(r.MaxUnavailable)
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
}

func manifestOf(s agentSpec) manifest {
	out := manifest{
		APIVersion: aksv1.ServiceGroup + "/v1api20240901", Kind: aksv1.AgentPoolManifestKind, Metadata: map[string]string{"name": clusterName + "-" + infraKey.Name},
		Spec: manifestSpec{
			AzureName: infraKey.Name, Owner: map[string]string{"name": clusterName}, Mode: s.Mode, Type: "VirtualMachineScaleSets", VMSize: s.SKU,
			ScaleDownMode: s.ScaleDownMode, Tags: maps.Clone(s.AdditionalTags), NodeLabels: s.NodeLabels, UpgradeSettings: s.UpgradeSettings,
			EnableAutoScaling: ptr.To(s.Scaling != nil), NodeTaints: []string{},
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
		Mode: m.Spec.Mode, SKU: m.Spec.VMSize, ScaleDownMode: m.Spec.ScaleDownMode, AdditionalTags: azurev1.Tags(m.Spec.Tags), NodeLabels: m.Spec.NodeLabels,
		UpgradeSettings: m.Spec.UpgradeSettings,
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
