package infrapool_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/cloud/trace"
	"github.com/muster-project/muster/kube/infrapool"
	awspool "github.com/muster-project/muster/providers/aws/awsmachinepool"
)

// A pass is one tree of spans, and its logs name it. Neither shows what machines boot with.
func TestProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	recorder := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("test")
	w.reconciler = infrapool.New(awspool.Adapter{}, trace.Traced(w.account, tracer), infrapool.Options{
		Client: w.management, ClusterCache: w.cache, Recorder: w.recorder, Now: func() time.Time { return w.now },
		Passes: trace.NewPasses(tracer),
	})
	var logs []string
	log := funcr.New(func(_, args string) { logs = append(logs, args) }, funcr.Options{Verbosity: 4})
	if _, err := w.reconciler.Reconcile(ctrl.LoggerInto(t.Context(), log), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	var tree []string
	attributes := ""
	ended := recorder.Ended()
	root := ended[len(ended)-1]
	for _, s := range ended {
		if s != root && s.Parent().SpanID() != root.SpanContext().SpanID() {
			t.Errorf("want %s below the pass", s.Name())
		}
		tree = append(tree, s.Name())
		attributes += fmt.Sprint(s.Attributes())
	}
	// The second look is the one for another group of the pool's.
	if diff := cmp.Diff([]string{"Observe", "Observe", "PutTemplate", "Reconcile AWSMachinePool"}, tree); diff != "" {
		t.Errorf("want the pass with what it did (-want +got):\n%s", diff)
	}
	for _, want := range []string{"{muster.step PutTemplate}", "{muster.kind AWSMachinePool}", "{k8s.namespace.name default}"} {
		if !strings.Contains(attributes, want) {
			t.Errorf("want an attribute %s, got %s", want, attributes)
		}
	}
	all := strings.Join(logs, "\n")
	for _, want := range []string{`"step begun"`, `"step"="PutTemplate"`, `"pool seen"`, root.SpanContext().TraceID().String(),
		root.SpanContext().SpanID().String()} {
		if !strings.Contains(all, want) {
			t.Errorf("want %s logged, got\n%s", want, all)
		}
	}
	if strings.Contains(all+attributes, "s3cret") {
		t.Errorf("want no bootstrap data in logs and spans, got\n%s\n%s", all, attributes)
	}
}
