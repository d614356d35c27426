package kubelet

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Registration is everything that a machine's Node says about it. It holds no secret.
type Registration struct {
	// Name of the Node.
	Name string
	// ProviderID, Zone, Region and Type as the cloud names them.
	ProviderID, Zone, Region, Type string
	// Hostname and Address of the machine.
	Hostname, Address string
	// Arch is a GOARCH, Version the kubelet's with the leading v.
	Arch, Version string
	CPUs          int
	MemoryMiB     int
	MaxPods       int
	CRISocket     string
	// Labels and Taints in addition to those that every node has.
	Labels map[string]string
	Taints []corev1.Taint
}

// defaultMaxPods is the kubelet's.
const defaultMaxPods = 110

// reservedMemoryMiB is kept back from pods by the kubelet's default eviction threshold.
const reservedMemoryMiB = 100

// diskGiB is the root disk of a simulated machine.
const diskGiB = 20

// SetFlags takes over what the kubelet's own flags say about a Node.
func (r *Registration) SetFlags(flags map[string]string) error {
	for _, pair := range splitList(flags["node-labels"]) {
		key, value, _ := strings.Cut(pair, "=")
		if r.Labels == nil {
			r.Labels = map[string]string{}
		}
		r.Labels[key] = value
	}
	if v := flags["register-with-taints"]; v != "" {
		r.Taints = nil
		for _, t := range splitList(v) {
			taint, err := parseTaint(t)
			if err != nil {
				return err
			}
			r.Taints = append(r.Taints, taint)
		}
	}
	if v := flags["provider-id"]; v != "" {
		r.ProviderID = v
	}
	if v := flags["hostname-override"]; v != "" {
		r.Name = strings.ToLower(v)
	}
	if v := flags["max-pods"]; v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return fmt.Errorf("failed to parse kubelet flag: --max-pods: want a number, found %q", v)
		}
		r.MaxPods = n
	}
	return nil
}

func splitList(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
}

// parseTaint reads key=value:Effect or key:Effect.
func parseTaint(s string) (corev1.Taint, error) {
	pair, effect, ok := strings.Cut(s, ":")
	key, value, _ := strings.Cut(pair, "=")
	switch e := corev1.TaintEffect(effect); e {
	case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		if ok && key != "" {
			return corev1.Taint{Key: key, Value: value, Effect: e}, nil
		}
	}
	return corev1.Taint{}, fmt.Errorf("failed to parse kubelet flag: --register-with-taints: invalid taint %q: want key=value:NoSchedule, "+
		"PreferNoSchedule or NoExecute", s)
}

// node is the object as it is first created: not Ready yet.
func (r *Registration) node(now time.Time) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: r.Name, Labels: r.labels(), Annotations: map[string]string{
			"volumes.kubernetes.io/controller-managed-attach-detach": "true", "kubeadm.alpha.kubernetes.io/cri-socket": r.CRISocket}},
		Spec:   corev1.NodeSpec{ProviderID: r.ProviderID, Taints: r.Taints},
		Status: r.status(now, nil, false),
	}
}

// labels are those that the kubelet and the cloud's controller manager set, and the user's.
func (r *Registration) labels() map[string]string {
	all := map[string]string{
		corev1.LabelHostname: r.Hostname, corev1.LabelOSStable: "linux", corev1.LabelArchStable: r.Arch, "beta.kubernetes.io/os": "linux",
		"beta.kubernetes.io/arch": r.Arch,
		corev1.LabelTopologyZone:  r.Zone, corev1.LabelFailureDomainBetaZone: r.Zone, corev1.LabelTopologyRegion: r.Region,
		corev1.LabelFailureDomainBetaRegion: r.Region,
		corev1.LabelInstanceTypeStable:      r.Type, corev1.LabelInstanceType: r.Type,
	}
	for k, v := range r.Labels {
		all[k] = v
	}
	for k, v := range all {
		if _, requested := r.Labels[k]; v == "" && !requested {
			delete(all, k) // The cloud did not say; a label without a value would claim that it did.
		}
	}
	return all
}

// status is the whole status that the kubelet owns. Transition times of conditions that stay as they are are taken from before.
func (r *Registration) status(now time.Time, before []corev1.NodeCondition, ready bool) corev1.NodeStatus {
	maxPods := r.MaxPods
	if maxPods == 0 {
		maxPods = defaultMaxPods
	}
	list := func(memory int) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU:              *resource.NewQuantity(int64(r.CPUs), resource.DecimalSI),
			corev1.ResourceMemory:           *resource.NewQuantity(int64(memory)<<20, resource.BinarySI),
			corev1.ResourcePods:             *resource.NewQuantity(int64(maxPods), resource.DecimalSI),
			corev1.ResourceEphemeralStorage: *resource.NewQuantity(diskGiB<<30, resource.BinarySI),
		}
	}
	return corev1.NodeStatus{
		Capacity: list(r.MemoryMiB), Allocatable: list(max(r.MemoryMiB-reservedMemoryMiB, 0)),
		Conditions: r.conditions(now, before, ready),
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: r.Address}, {Type: corev1.NodeHostName, Address: r.Hostname},
			{Type: corev1.NodeInternalDNS, Address: r.Hostname}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: 10250}},
		NodeInfo: corev1.NodeSystemInfo{
			MachineID: r.id("machine"), SystemUUID: uuid(r.id("system")), BootID: uuid(r.id("boot")), KernelVersion: "6.8.0-1021-simulated",
			OSImage:                 "Ubuntu 24.04 LTS (simulated)",
			ContainerRuntimeVersion: "containerd://1.7.27", KubeletVersion: r.Version, OperatingSystem: "linux", Architecture: r.Arch,
		},
	}
}

// conditions are the kubelet's five.
func (r *Registration) conditions(now time.Time, before []corev1.NodeCondition, ready bool) []corev1.NodeCondition {
	all := []corev1.NodeCondition{
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory",
			Message: "kubelet has sufficient memory available"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure",
			Message: "kubelet has no disk pressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID",
			Message: "kubelet has sufficient PID available"},
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"},
	}
	if !ready {
		all[3].Status, all[3].Reason, all[3].Message = corev1.ConditionFalse, "KubeletNotReady",
			"container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni "+
				"plugin not initialized"
	}
	for i := range all {
		all[i].LastHeartbeatTime, all[i].LastTransitionTime = metav1.NewTime(now), metav1.NewTime(now)
		for _, b := range before {
			if b.Type == all[i].Type && b.Status == all[i].Status {
				all[i].LastTransitionTime = b.LastTransitionTime
			}
		}
	}
	return all
}

// id is 32 hex digits that are always the same for a machine.
func (r *Registration) id(of string) string {
	sum := sha256.Sum256([]byte(of + "\x00" + r.ProviderID + "\x00" + r.Name))
	return fmt.Sprintf("%x", sum[:16])
}

func uuid(hex string) string {
	return hex[:8] + "-" + hex[8:12] + "-" + hex[12:16] + "-" + hex[16:20] + "-" + hex[20:]
}
