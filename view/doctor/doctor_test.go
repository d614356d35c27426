package doctor

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

var cloudPool = schema.GroupKind{Group: "infrastructure.cluster.x-k8s.io", Kind: "CloudMachinePool"}

// someCloud returns a provider as package gather describes it.
func someCloud() Provider {
	return Provider{
		Title: "Cloud",
		Kinds: []Kind{{GroupKind: cloudPool, Controller: "cloudmachinepool", Gate: "Pools", GateDefault: true}},
		Existing: Existing{Label: "infrastructure-cloud", Title: "cluster-api-provider-cloud", PoolGate: "MachinePool",
			Variable: "EXP_MACHINE_POOL", PoolGateDefault: true},
	}
}

func muster(change func(*Manager)) Manager {
	m := Manager{Provider: MusterProvider, Namespace: "muster-system", Name: "muster-controller-manager", Version: "v0.1.0", Desired: 2,
		Ready:       2,
		Controllers: []string{"cloudmachinepool", "webhook"}}
	if change != nil {
		change(&m)
	}
	return m
}

func upstream(change func(*Manager)) Manager {
	m := Manager{Provider: CoreProvider, Namespace: "capi-system", Name: "capi-controller-manager", Version: "v1.14.2", Desired: 1,
		Ready: 1}
	if change != nil {
		change(&m)
	}
	return m
}

// line returns a finding in one line: its severity, its object and its fact.
func line(f Finding) string { return string(f.Severity) + " " + f.Object + ": " + f.Fact }

// row is one row of the tables: what a check finds in an installation, as prefixes of lines.
type row struct {
	why  string
	in   Installation
	want []string
}

// run holds a check to its table. What is no OK names a next action.
func run(t *testing.T, check func(Installation) []Finding, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			t.Parallel()
			r.in.Now = noon
			found := check(r.in)
			if len(found) != len(r.want) {
				t.Fatalf("want %d findings, got %v", len(r.want), found)
			}
			for i, f := range found {
				if !strings.HasPrefix(line(f), r.want[i]) {
					t.Errorf("want %q, got %q", r.want[i], line(f))
				}
				if (f.Severity == OK) != (f.Action == "") {
					t.Errorf("want a next action for what is not OK, and for nothing else, got %+v", f)
				}
			}
		})
	}
}

func TestExamine(t *testing.T) {
	t.Parallel()
	r := Examine(Installation{Now: noon, Managers: []Manager{upstream(nil)}, Unread: map[string]string{CheckRights: "forbidden."},
		Definitions: []Definition{{Name: "clusters.cluster.x-k8s.io", Core: true, Wants: "v1beta2", Served: []string{"v1beta2"}}}})
	got := map[string]int{"problems": r.Problems, "warnings": r.Warnings, "unchecked": r.Unchecked, "findings": len(r.Findings)}
	if diff := cmp.Diff(map[string]int{"problems": 1, "warnings": 0, "unchecked": 1, "findings": 4}, got); diff != "" {
		t.Errorf("want Muster missing, rights not checked, core and its controller OK (-want +got):\n%s\n%v", diff, r.Findings)
	}
	var text bytes.Buffer
	if err := Text(&text, r); err != nil {
		t.Fatal(err)
	}
	want := `OK           Deployment capi-system/capi-controller-manager: version v1.14.2, 1 of 1 replicas ready, contract v1beta2
PROBLEM      Muster: no Deployment of its manager exists. Next: install it: docs/install.md
OK           Core MachinePool controller: runs in Deployment capi-system/capi-controller-manager alone
NOT CHECKED  Management cluster: forbidden. Next: run muster doctor as a user who may read this

1 problem, 0 warnings, 1 not checked.
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// Scripts read these fields: none is renamed or left out.
func TestJSON(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	if err := JSON(&text, Report{APIVersion: APIVersion, Kind: ReportKind, Problems: 1,
		Findings: []Finding{{Severity: Problem, Check: CheckCore, Object: "o", Fact: "f", Action: "a"}}}); err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"apiVersion": "doctor.muster.dev/v1", "kind": "Report", "problems": 1.0, "warnings": 0.0, "unchecked": 0.0,
		"findings": []any{map[string]any{"severity": "PROBLEM", "check": "core", "object": "o", "fact": "f", "action": "a"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}
