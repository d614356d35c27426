package drain

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/pool"
)

// attachment returns the attachment of a volume to a node.
func attachment(volume, node string, change ...func(*storagev1.VolumeAttachment)) *storagev1.VolumeAttachment {
	a := &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: "csi-" + volume},
		Spec:       storagev1.VolumeAttachmentSpec{NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume}},
		Status:     storagev1.VolumeAttachmentStatus{Attached: true},
	}
	for _, f := range change {
		f(a)
	}
	return a
}

// volume returns a volume that is bound to the claim of that name; without a name it is bound to none.
func volume(name, claim string) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "ebs",
			VolumeHandle: "vol-" + name}}}}
	if claim != "" {
		v.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "default", Name: claim}
	}
	return v
}

func using(claim string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
	}
}

// reports makes the kubelet of a node report a volume as attached.
func reports(volume string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Status.VolumesAttached = []corev1.AttachedVolume{{Name: corev1.UniqueVolumeName("kubernetes.io/csi/ebs^vol-" + volume)}}
	}
}

func detaching(ago time.Duration) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Annotations[DetachStartedAnnotation] = now.Add(-ago).Format(time.RFC3339) }
}

func seconds(n int32) *int32 { return &n }

// TestVolumes holds what is waited for after the pods have terminated.
func TestVolumes(t *testing.T) {
	t.Parallel()
	const data = "PersistentVolumeClaim default/data (its volume is still attached)"
	excluded := map[string]string{clusterv1.ExcludeWaitForNodeVolumeDetachAnnotation: ""}
	for name, tc := range map[string]struct {
		reason      string
		objects     []client.Object
		deletion    clusterv1.MachineDeletionSpec
		annotations map[string]string
		remaining   int
		waits       []string
	}{
		"attached": {reason: "a volume that is torn from a machine may be damaged, and blocks its next pod for minutes",
			objects: []client.Object{node(draining), attachment("pv", "n1"), volume("pv", "data")}, waits: []string{data}},
		"said twice": {reason: "a volume in both the kubelet's report and an attachment is one volume",
			objects: []client.Object{node(draining, reports("pv")), attachment("pv", "n1"), volume("pv", "data")}, waits: []string{data}},
		"kubelet only": {reason: "volumes without attachments are known from the Node",
			objects: []client.Object{node(draining, reports("pv")), volume("pv", "data")}, waits: []string{data}},
		"elsewhere": {reason: "another node's volumes are not waited for",
			objects: []client.Object{node(draining), attachment("pv", "n2"), volume("pv", "data")}},
		"being attached": {reason: "what is not attached need not be detached",
			objects: []client.Object{node(draining), volume("pv", "data"), attachment("pv", "n1", func(a *storagev1.VolumeAttachment) {
				a.Status.Attached = false
			})}},
		"pods left": {reason: "volumes are looked at when the pods are gone",
			objects: []client.Object{node(draining), podOn("a"), attachment("pv", "n1"), volume("pv", "data")}, remaining: 1},
		"skipped pod": {reason: "a pod that the drain leaves running keeps its volume",
			objects: []client.Object{node(draining), podOn("a", labelled("skip"), using("data")), attachment("pv", "n1"), volume("pv", "data")}},
		"daemon set": {reason: "that of a daemon set as well",
			objects: []client.Object{node(draining), daemonSet, podOn("a", ofDaemonSet, using("data")), attachment("pv", "n1"),
				volume("pv", "data")}},
		"excluded pods": {reason: "machines that are not drained keep the volumes of what runs there",
			objects:     []client.Object{node(draining), podOn("a", using("data")), attachment("pv", "n1"), volume("pv", "data")},
			annotations: map[string]string{clusterv1.ExcludeNodeDrainingAnnotation: ""}},
		"no claim": {reason: "what has no claim has a name", objects: []client.Object{node(draining), attachment("pv", "n1"), volume("pv", "")},
			waits: []string{"PersistentVolume pv (still attached)"}},
		"no volume": {reason: "an attachment to a volume that is gone still holds a disk",
			objects: []client.Object{node(draining, reports("lost")), attachment("pv", "n1")},
			waits:   []string{"VolumeAttachment of pv (still attached)", "volume kubernetes.io/csi/ebs^vol-lost (still attached)"}},
		"inline": {reason: "an attachment without a volume is named itself",
			objects: []client.Object{node(draining), attachment("pv", "n1", func(a *storagev1.VolumeAttachment) {
				a.Spec.Source.PersistentVolumeName = nil
			})}, waits: []string{"VolumeAttachment of csi-pv (still attached)"}},
		"unreachable": {reason: "no kubelet can detach it", objects: []client.Object{node(draining, unreachable), attachment("pv", "n1"),
			volume("pv", "data")}},
		"excluded": {reason: "the annotation takes machines out of the wait",
			objects: []client.Object{node(draining), attachment("pv", "n1"), volume("pv", "data")}, annotations: excluded},
		"in time": {reason: "the timeout counts from the last pod, not from the start of the drain",
			deletion: clusterv1.MachineDeletionSpec{NodeVolumeDetachTimeoutSeconds: seconds(20)},
			objects:  []client.Object{node(draining, detaching(19*time.Second)), attachment("pv", "n1"), volume("pv", "data")},
			waits:    []string{data}},
		"time up": {reason: "and bounds the wait", deletion: clusterv1.MachineDeletionSpec{NodeVolumeDetachTimeoutSeconds: seconds(20)},
			objects: []client.Object{node(draining, detaching(20*time.Second)), attachment("pv", "n1"), volume("pv", "data")}},
		"zero": {reason: "a timeout of zero is none", deletion: clusterv1.MachineDeletionSpec{NodeVolumeDetachTimeoutSeconds: seconds(0)},
			objects: []client.Object{node(draining, detaching(time.Hour)), attachment("pv", "n1"), volume("pv", "data")}, waits: []string{data}},
		"drain timed out": {reason: "volumes of pods that are no longer evicted are not waited for, those of others are",
			deletion: clusterv1.MachineDeletionSpec{NodeDrainTimeoutSeconds: seconds(30)},
			objects: []client.Object{node(draining), podOn("a", using("logs")), attachment("pv", "n1"), volume("pv", "data"),
				attachment("pv2", "n1"), volume("pv2", "logs")},
			remaining: 1, waits: []string{data}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, append(tc.objects, namespace), nil)
			w.Machine.Spec.Deletion, w.Machine.Annotations = tc.deletion, tc.annotations
			found, err := w.Find(t.Context(), []string{key})
			if err != nil {
				t.Fatal(err)
			}
			got := found[key]
			if got.Remaining != tc.remaining || got.Detaching != len(tc.waits) || !slices.Equal(got.Blocked, tc.waits) {
				t.Errorf("%s: want %d pods, %q, got %d, %d, %q", tc.reason, tc.remaining, tc.waits, got.Remaining, got.Detaching, got.Blocked)
			}
		})
	}
}

// TestVolumesAreWaitedForAfterThePods holds the stages of a drain: pods, volumes, drained. The wait for volumes begins with one write, and
// ends by itself or by its timeout.
func TestVolumesAreWaitedForAfterThePods(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{node(), namespace, podOn("a"), attachment("pv", "n1"), volume("pv", "data")}, nil)
	w.Machine.Spec.Deletion.NodeVolumeDetachTimeoutSeconds = seconds(60)
	stage := func() string {
		n := w.round(t)
		w.ended(t)
		return fmt.Sprintf("%d pods, %d volumes, drained %v, %d writes", n.Remaining, n.Detaching, n.Drained(), len(w.writes))
	}
	for i, want := range []string{
		"0 pods, 0 volumes, drained false, 1 writes", // not begun before the first round
		"0 pods, 1 volumes, drained false, 2 writes",
		"0 pods, 1 volumes, drained false, 2 writes",
	} {
		if got := stage(); got != want {
			t.Errorf("round %d: want %s, got %s", i+1, want, got)
		}
	}
	w.nextPass(time.Minute)
	if got, want := stage(), "0 pods, 0 volumes, drained true, 2 writes"; got != want {
		t.Errorf("after a minute: want %s, got %s", want, got)
	}
	if err := w.Start(t.Context(), pool.Step{Kind: pool.Undrain, Targets: []pool.InstanceRef{target}}); err != nil {
		t.Fatal(err)
	}
	n := &corev1.Node{}
	if err := w.Remote.Get(t.Context(), client.ObjectKey{Name: "n1"}, n); err != nil || len(n.Annotations) != 0 || n.Spec.Unschedulable {
		t.Errorf("want nothing left of the drain, got %v, %v", n.Annotations, err)
	}
}
