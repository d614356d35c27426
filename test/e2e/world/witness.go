package world

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/muster-project/muster/kube/nodes"
)

// Witness watches a workload cluster while machines come and go, and remembers what must never happen.
type Witness struct {
	mu sync.Mutex
	// nodes and pods are those that exist, by name; pods of the app that is watched alone.
	nodes map[string]*corev1.Node
	pods  map[string]*corev1.Pod
	// lowest is the least number of nodes that were Ready and open at a time.
	lowest int
	// at describes the Nodes at the time of the minimum.
	at string
	// others is true if another controller drains Nodes: Cluster API's Machine controller.
	others bool
	// cloud is true if the cloud drains and removes. EKS bounds each drain by a time, and Muster relies on that. Disruption budgets apply all
	// the same.
	cloud bool
	// evicted counts the evicted pods. gone lists the deleted Nodes.
	evicted int
	gone    []string
	// wrong is everything that must not have happened.
	wrong []string
}

// appLabel is the label of the pods that a witness watches.
const appLabel = "app"

// Watch begins to watch a workload cluster; what it saw is complete while the test runs.
func (w *World) Watch(cluster string) *Witness {
	w.T.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", w.ClusterKubeconfig(cluster))
	if err != nil {
		w.T.Fatal(err)
	}
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		w.T.Fatal(err)
	}
	s := &Witness{nodes: map[string]*corev1.Node{}, pods: map[string]*corev1.Pod{}}
	factory := informers.NewSharedInformerFactory(c, 0)
	var seen []cache.InformerSynced
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		factory.Core().V1().Nodes().Informer():                  s.handler(s.seeNode, s.loseNode),
		factory.Core().V1().Pods().Informer():                   s.handler(s.seePod, s.losePod),
		factory.Policy().V1().PodDisruptionBudgets().Informer(): s.handler(s.seeBudget, func(any) {}),
	} {
		registered, err := informer.AddEventHandler(handler)
		if err != nil {
			w.T.Fatal(err)
		}
		seen = append(seen, registered.HasSynced)
	}
	factory.StartWithContext(w.T.Context())
	if !cache.WaitForCacheSync(w.T.Context().Done(), seen...) {
		w.T.Fatal("the workload cluster was not seen before the test ended")
	}
	w.T.Cleanup(factory.Shutdown)
	return s
}

// Web brings the guide's Deployment and its budget to a workload cluster, with as many pods from its beginning: those of a Deployment
// that is made smaller would go without an eviction, and some while later.
func (w *World) Web(cluster string, pods int) {
	w.T.Helper()
	manifest, err := os.ReadFile("../../docs/rollouts/web.yaml")
	if err != nil {
		w.T.Fatal(err)
	}
	w.ApplyTo(cluster, string(bytes.ReplaceAll(manifest, []byte("replicas: 20"), fmt.Appendf(nil, "replicas: %d", pods))))
	w.Workload(cluster, "wait", "deployment/web", "--for=condition=Available", "--timeout", WaitLimit.String())
	if is := w.ReadFrom(cluster, "{.spec.replicas}", "deployment/web"); is != strconv.Itoa(pods) {
		w.T.Fatalf("want %d pods in the guide's manifest, got %s", pods, is)
	}
}

// handler calls see with each object as it is, and lose with the last of it.
func (s *Witness) handler(see, lose func(any)) cache.ResourceEventHandler {
	locked := func(f func(any)) func(any) {
		return func(o any) {
			s.mu.Lock()
			defer s.mu.Unlock()
			f(o)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: locked(see), UpdateFunc: func(_, o any) { locked(see)(o) },
		DeleteFunc: locked(func(o any) {
			if last, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = last.Obj
			}
			lose(o)
		}),
	}
}

// Begin forgets what was seen until now.
func (s *Witness) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.evicted, s.gone, s.wrong = 0, nil, nil
	s.lowest, s.at = len(s.nodes)+1, ""
	s.count()
}

// ByOthers has another controller drain nodes from now on.
func (s *Witness) ByOthers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others = true
}

// ByCloud has the cloud itself drain and remove nodes from now on.
func (s *Witness) ByCloud() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others, s.cloud = true, true
}

// count keeps the least number.
func (s *Witness) count() {
	serving := 0
	for _, n := range s.nodes {
		if ready(n) && !n.Spec.Unschedulable {
			serving++
		}
	}
	if serving < s.lowest {
		s.lowest, s.at = serving, s.describe()
	}
}

// At describes the Nodes at the time when the fewest of them served.
func (s *Witness) At() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

// describe reports for every Node whether it is Ready and schedulable.
func (s *Witness) describe() string {
	var all []string
	for name, n := range s.nodes {
		all = append(all, fmt.Sprintf("%s ready %v closed %v", name, ready(n), n.Spec.Unschedulable))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

func ready(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func (s *Witness) seeNode(o any) {
	n := o.(*corev1.Node)
	s.nodes[n.Name] = n
	s.count()
}

// loseNode holds that a Node is drained before it is deleted: cordoned by Muster, and without pods.
func (s *Witness) loseNode(o any) {
	n := o.(*corev1.Node)
	if !n.Spec.Unschedulable || n.Annotations[nodes.DrainStartedAnnotation] == "" && !s.others {
		s.say("node %s was removed without a drain", n.Name)
	}
	for _, p := range s.pods {
		if p.Spec.NodeName == n.Name && p.DeletionTimestamp == nil && !s.cloud {
			s.say("node %s was removed with pod %s on it", n.Name, p.Name)
		}
	}
	delete(s.nodes, n.Name)
	s.gone = append(s.gone, n.Name)
	s.count()
}

func (s *Witness) seePod(o any) {
	if p := o.(*corev1.Pod); p.Labels[appLabel] != "" {
		s.pods[p.Name] = p
	}
}

// losePod holds that a pod goes because it was evicted through its budget.
func (s *Witness) losePod(o any) {
	p := o.(*corev1.Pod)
	if p.Labels[appLabel] == "" {
		return
	}
	delete(s.pods, p.Name)
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Reason == "EvictionByEvictionAPI" {
			s.evicted++
			return
		}
	}
	if !s.cloud {
		s.say("pod %s went without an eviction: %v", p.Name, p.Status.Conditions)
	}
}

// seeBudget holds that never fewer pods are healthy than the budget wants, once it counts as many as there should be.
func (s *Witness) seeBudget(o any) {
	b := o.(*policyv1.PodDisruptionBudget)
	if b.Status.ExpectedPods > 0 && b.Status.CurrentHealthy < b.Status.DesiredHealthy {
		s.say("budget %s: %d pods were healthy, %d are wanted", b.Name, b.Status.CurrentHealthy, b.Status.DesiredHealthy)
	}
}

func (s *Witness) say(format string, args ...any) {
	s.wrong = append(s.wrong, time.Now().Format(time.TimeOnly)+" "+fmt.Sprintf(format, args...))
}

// Saw returns the observations since Begin, and an error for a violation.
func (s *Witness) Saw() (lowest int, gone []string, evicted int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrong) > 0 {
		err = fmt.Errorf("%s", strings.Join(s.wrong, "\n"))
	}
	return s.lowest, slices.Clone(s.gone), s.evicted, err
}
