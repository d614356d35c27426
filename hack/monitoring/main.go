// Command monitoring writes what follows from the metrics of docs/metrics.md and from the alerts of the PrometheusRule: the dashboard for
// Grafana, and the table of alerts in docs/metrics.md. It runs in the root of the repository.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	document  = "docs/metrics.md"
	rules     = "config/metrics/operator/prometheusrule.yaml"
	dashboard = "config/metrics/operator/dashboard.json"
)

func main() {
	log.SetFlags(0)
	if err := run("."); err != nil {
		log.Fatal(err)
	}
}

func run(root string) error {
	page, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		return fmt.Errorf("read the page of the metrics: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(root, rules))
	if err != nil {
		return fmt.Errorf("read the alerts: %w", err)
	}
	board, err := boardOf(metricsOf(string(page)))
	if err != nil {
		return err
	}
	changed, err := withAlerts(string(page), text)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, document), []byte(changed), 0o600); err != nil {
		return fmt.Errorf("write the page of the metrics: %w", err)
	}
	if err := os.WriteFile(filepath.Join(root, dashboard), board, 0o600); err != nil {
		return fmt.Errorf("write the dashboard: %w", err)
	}
	return nil
}

// metric is a row of the tables of docs/metrics.md.
type metric struct{ name, kind, what string }

var (
	row  = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (gauge|counter|histogram) \\| [^|]* \\| (.*) \\|$")
	link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

func metricsOf(page string) map[string]metric {
	found := map[string]metric{}
	for _, m := range row.FindAllStringSubmatch(page, -1) {
		found[m[1]] = metric{name: m[1], kind: m[2], what: strings.ReplaceAll(link.ReplaceAllString(m[3], "$1"), "`", "")}
	}
	return found
}

// The lines between which the table of alerts is.
const begin, end = "<!-- alerts -->\n", "<!-- end of alerts -->\n"

// withAlerts returns the page with the table of the alerts.
func withAlerts(page string, text []byte) (string, error) {
	var rule struct {
		Spec struct {
			Groups []struct {
				Rules []struct {
					Alert, Expr, For string
					Labels           map[string]string
					Annotations      map[string]string
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &rule); err != nil {
		return "", fmt.Errorf("%s: %w", rules, err)
	}
	before, rest, opened := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		return "", fmt.Errorf("%s: want the lines %q and %q", document, begin, end)
	}
	var table strings.Builder
	table.WriteString("| alert | severity | fires when | what to do |\n| --- | --- | --- | --- |\n")
	for _, group := range rule.Spec.Groups {
		for _, r := range group.Rules {
			for _, name := range []string{"summary", "description", "action"} {
				if r.Annotations[name] == "" {
					return "", fmt.Errorf("%s: alert %s has no annotation %s", rules, r.Alert, name)
				}
			}
			when := strings.TrimSuffix(r.Annotations["summary"], ".")
			if r.For != "" {
				when += ", for " + r.For
			}
			fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", r.Alert, r.Labels["severity"], when, r.Annotations["action"])
		}
	}
	return before + begin + table.String() + end + after, nil
}
