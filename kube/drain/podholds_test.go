package drain

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/nodes"
)

// asks has a pod that started a minute ago ask to be left alone.
func asks(value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Annotations = map[string]string{nodes.DoNotDisruptAnnotation: value}
		p.Status.StartTime = &metav1.Time{Time: now.Add(-time.Minute)}
	}
}

func TestPodHolds(t *testing.T) {
	t.Parallel()
	const kept = "pod default/a with the annotation karpenter.sh/do-not-disrupt"
	for why, c := range map[string]struct {
		pods []client.Object
		want string
	}{
		"no pod":                                {nil, ""},
		"a pod without the annotation":          {[]client.Object{podOn("a")}, ""},
		"a pod that asks":                       {[]client.Object{podOn("b", asks("true")), podOn("a", asks("true"))}, kept},
		"a pod of another node":                 {[]client.Object{podOn("a", asks("true"), elsewhere)}, ""},
		"a pod of a DaemonSet is disrupted too": {[]client.Object{daemonSet, podOn("a", ofDaemonSet, asks("true"))}, kept},
		"a time that has not passed":            {[]client.Object{podOn("a", asks("2m"))}, kept},
		"a time that has passed":                {[]client.Object{podOn("a", asks("60s"))}, ""},
		"a value that means nothing":            {[]client.Object{podOn("a", asks("please"))}, ""},
		"a pod that has ended": {[]client.Object{podOn("a", asks("true"), func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodSucceeded
		})}, ""},
		"a pod that is terminating": {[]client.Object{podOn("a", asks("true"), terminating(time.Second))}, ""},
	} {
		w := newWorld(t, append(c.pods, node(), namespace), nil)
		got, err := w.PodHolds(t.Context(), []string{key, "aws://i-2"})
		if hold := got[key]; err != nil || len(got) != 1 || !hold.Known || hold.By != c.want {
			t.Errorf("%s: want %q, got %+v, %v", why, c.want, got, err)
		}
	}
}

func TestForeignHolds(t *testing.T) {
	t.Parallel()
	annotated := func(key, value string) func(*corev1.Node) {
		return func(n *corev1.Node) { metav1.SetMetaDataAnnotation(&n.ObjectMeta, key, value) }
	}
	labelled := func(key, value string) func(*corev1.Node) {
		return func(n *corev1.Node) { metav1.SetMetaDataLabel(&n.ObjectMeta, key, value) }
	}
	until := annotated(nodes.HoldAnnotation, now.Add(time.Hour).Format(time.RFC3339))
	for why, c := range map[string]struct {
		marks []func(*corev1.Node)
		off   bool
		want  string
	}{
		"none": {nil, false, ""},
		"Karpenter's": {[]func(*corev1.Node){annotated("karpenter.sh/do-not-disrupt", "true")}, false,
			"the mark karpenter.sh/do-not-disrupt: true"},
		"Karpenter's without true": {[]func(*corev1.Node){annotated("karpenter.sh/do-not-disrupt", "false")}, false, ""},
		"a cloud's": {[]func(*corev1.Node){labelled("example.com/upgrade", "Paused")}, false,
			"the mark example.com/upgrade: paused"},
		"another value":                  {[]func(*corev1.Node){labelled("example.com/upgrade", "Quarantined")}, false, ""},
		"kept for diagnosis if it fails": {[]func(*corev1.Node){annotated(nodes.PreserveAnnotation, "")}, false, ""},
		"not asked for":                  {[]func(*corev1.Node){annotated("karpenter.sh/do-not-disrupt", "true")}, true, ""},
		"longer than Muster's own": {[]func(*corev1.Node){annotated("karpenter.sh/do-not-disrupt", "true"), until}, false,
			"the mark karpenter.sh/do-not-disrupt: true"},
	} {
		w := newWorld(t, []client.Object{node(c.marks...), namespace}, nil)
		if !c.off {
			w.ForeignHolds = []nodes.Mark{nodes.DoNotDisrupt, {Key: "example.com/upgrade", Value: "paused"}}
		}
		got, err := w.Find(t.Context(), []string{key})
		n := got[key]
		if err != nil || n.HeldBy != c.want || n.Held != (c.want != "") || !n.HeldUntil.IsZero() {
			t.Errorf("%s: want %q without an end, got %+v, %v", why, c.want, n, err)
		}
		if preserved := why == "kept for diagnosis if it fails"; n.Preserved != preserved {
			t.Errorf("%s: want preserved %t, got %+v", why, preserved, n)
		}
	}
}
