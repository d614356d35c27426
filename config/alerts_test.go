package config_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// promtool returns the path of Prometheus's promtool: what PROMTOOL names, one in bin, or one in the path.
func promtool(t *testing.T) string {
	t.Helper()
	for _, candidate := range []string{os.Getenv("PROMTOOL"), filepath.Join("..", "bin", "promtool"), "promtool"} {
		if candidate == "" {
			continue
		}
		if found, err := exec.LookPath(candidate); err == nil {
			path, err := filepath.Abs(found) // it runs in another folder
			if err != nil {
				t.Fatal(err)
			}
			return path
		}
	}
	t.Skip("there is no promtool: make bin/promtool takes it from Debian's packages")
	return ""
}

// alertsOf returns the names of the alerts in a PrometheusRule, and its rules as a file of Prometheus has them.
func alertsOf(t *testing.T, manifest string) (names []string, rules []byte) {
	t.Helper()
	var rule struct {
		Spec struct {
			Groups []struct {
				Name  string           `json:"name"`
				Rules []map[string]any `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	if err := yaml.UnmarshalStrict([]byte(manifest), &struct {
		APIVersion, Kind string
		Metadata         map[string]any
		Spec             any
	}{}); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(manifest), &rule); err != nil {
		t.Fatal(err)
	}
	for _, g := range rule.Spec.Groups {
		for _, r := range g.Rules {
			names = append(names, r["alert"].(string))
		}
	}
	rules, err := yaml.Marshal(rule.Spec)
	if err != nil {
		t.Fatal(err)
	}
	return names, rules
}

// TestAlerts has promtool run the unit tests of the alerts, which show each alert both silent and firing.
func TestAlerts(t *testing.T) {
	t.Parallel()
	names, rules := alertsOf(t, text(t, build(t, "metrics/operator"), "PrometheusRule", "muster"))
	tests, err := os.ReadFile(filepath.Join("testdata", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var cases struct {
		Tests []struct {
			Name  string `json:"name"`
			Rules []struct {
				AlertName string           `json:"alertname"`
				Alerts    []map[string]any `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		} `json:"tests"`
	}
	if err := yaml.Unmarshal(tests, &cases); err != nil {
		t.Fatal(err)
	}
	var tested []string
	for _, c := range cases.Tests {
		silent, fires := false, false
		for _, r := range c.Rules {
			silent, fires = silent || len(r.Alerts) == 0, fires || len(r.Alerts) > 0
		}
		if tested = append(tested, c.Name); !silent || !fires {
			t.Errorf("%s: want a moment when it is silent and one when it fires", c.Name)
		}
	}
	slices.Sort(names)
	slices.Sort(tested)
	if !slices.Equal(names, tested) {
		t.Errorf("want a test of each alert, got alerts\n%s\nand tests\n%s", strings.Join(names, " "), strings.Join(tested, " "))
	}
	tool, folder := promtool(t), t.TempDir()
	failed := cmp.Or(os.WriteFile(filepath.Join(folder, "alerts.yaml"), rules, 0o600),
		os.WriteFile(filepath.Join(folder, "tests.yaml"), tests, 0o600))
	if failed != nil {
		t.Fatal(failed)
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "tests.yaml"}} {
		run := exec.CommandContext(t.Context(), tool, args...)
		run.Dir = folder
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// TestServiceMonitorScrapesManager holds that the monitor selects the Service, and the Service a port that the manager has.
func TestServiceMonitorScrapesManager(t *testing.T) {
	t.Parallel()
	objects := build(t, "metrics/operator")
	manager := text(t, build(t, "default"), "Deployment", "muster-controller-manager")
	service, monitor := text(t, objects, "Service", "muster-metrics"), text(t, objects, "ServiceMonitor", "muster")
	for _, want := range []struct{ where, text string }{
		{manager, "name: metrics\n"}, {manager, "control-plane: muster-controller-manager"},
		{service, "targetPort: metrics"}, {service, "control-plane: muster-controller-manager"}, {service, "- name: metrics"},
		{service, "app.kubernetes.io/component: metrics"}, {monitor, "app.kubernetes.io/component: metrics"}, {monitor, "port: metrics"},
	} {
		if !strings.Contains(want.where, want.text) {
			t.Errorf("want %q in\n%s", want.text, want.where)
		}
	}
}
