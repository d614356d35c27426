package kubelet

import (
	"crypto/sha256"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// running is the status of a pod all of whose containers have started and are ready.
func (r *Registration) running(pod *corev1.Pod, now time.Time) corev1.PodStatus {
	at := metav1.NewTime(now)
	s := corev1.PodStatus{Phase: corev1.PodRunning, HostIP: r.Address, StartTime: &at, PodIP: podIP(pod)}
	if pod.Spec.HostNetwork {
		s.PodIP = r.Address
	}
	s.HostIPs = []corev1.HostIP{{IP: s.HostIP}}
	s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	if pod.Status.StartTime != nil {
		s.StartTime = pod.Status.StartTime
	}
	ready := corev1.ConditionTrue
	if !gatesOpen(pod) {
		ready = corev1.ConditionFalse
	}
	for _, c := range []struct {
		kind   corev1.PodConditionType
		status corev1.ConditionStatus
	}{{corev1.PodReadyToStartContainers, corev1.ConditionTrue}, {corev1.PodInitialized, corev1.ConditionTrue},
		{corev1.ContainersReady, corev1.ConditionTrue}, {corev1.PodReady, ready}} {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: c.kind, Status: c.status,
			LastTransitionTime: since(pod, c.kind, c.status, at)})
	}
	if pod.Status.StartTime != nil {
		at = *pod.Status.StartTime // It was ready before: its containers run since then.
	}
	for i := range pod.Spec.InitContainers {
		s.InitContainerStatuses = append(s.InitContainerStatuses, initStatus(pod, &pod.Spec.InitContainers[i], at))
	}
	for i := range pod.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, containerStatus(pod, &pod.Spec.Containers[i], at))
	}
	return s
}

// gatesOpen reports whether all readiness gates of a pod are set; until then a kubelet does not report it ready.
func gatesOpen(pod *corev1.Pod) bool {
	for _, g := range pod.Spec.ReadinessGates {
		if !holds(pod, g.ConditionType) {
			return false
		}
	}
	return true
}

func holds(pod *corev1.Pod, kind corev1.PodConditionType) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// since is when a condition took its status: now, or earlier when it has it already.
func since(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus, now metav1.Time) metav1.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind && c.Status == status {
			return c.LastTransitionTime
		}
	}
	return now
}

func containerStatus(pod *corev1.Pod, c *corev1.Container, at metav1.Time) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, ImageID: imageID(c.Image), ContainerID: containerID(pod, c), Ready: true, Started: ptr.To(true),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}},
	}
}

// initStatus is done, except for a sidecar, which runs at the same time as the others.
func initStatus(pod *corev1.Pod, c *corev1.Container, at metav1.Time) corev1.ContainerStatus {
	s := containerStatus(pod, c, at)
	if ptr.Deref(c.RestartPolicy, "") != corev1.ContainerRestartPolicyAlways {
		s.Started = ptr.To(false)
		s.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: at, FinishedAt: at,
			ContainerID: s.ContainerID}}
	}
	return s
}

// podIP is an address of 10.128.0.0/9 that is always the same for a pod.
func podIP(pod *corev1.Pod) string {
	sum := sha256.Sum256([]byte(pod.UID))
	return fmt.Sprintf("10.%d.%d.%d", 128|sum[0], sum[1], 1+sum[2]%254)
}

func imageID(image string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(image))) }

func containerID(pod *corev1.Pod, c *corev1.Container) string {
	return fmt.Sprintf("containerd://%x", sha256.Sum256([]byte(string(pod.UID)+"/"+c.Name)))
}
