package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// panel is a panel of the dashboard. Its description holds those of the metrics that it shows.
type panel struct {
	title string
	// form is the kind of panel in Grafana, unit that of the values in Grafana's names.
	form, unit string
	width      int
	// queries are the expressions by the legend of their series.
	queries []query
}

type query struct{ expr, legend string }

// section is a row of the dashboard.
type section struct {
	title  string
	panels []panel
}

const (
	series, number = "timeseries", "stat"
	// picked selects the pools that the variables of the dashboard name.
	picked = `cluster=~"$cluster",namespace=~"$namespace",kind=~"$kind",name=~"$pool"`
	ofPool = "{{kind}} {{namespace}}/{{name}}"
)

// sections are the panels. A metric of docs/metrics.md that none of them shows is an error.
var sections = []section{
	{"Now", []panel{
		stat("Pools", query{`count(muster_pool_observed{` + picked + `})`, "pools"}),
		stat("Pools out of reach", query{`count(muster_pool_observed{` + picked + `} == 0) or vector(0)`, "pools"}),
		stat("Machines desired", query{`sum(muster_pool_desired_instances{` + picked + `})`, "machines"}),
		stat("Machines available", query{`sum(muster_pool_available_instances{` + picked + `})`, "machines"}),
		stat("Rollouts halted", query{`sum(muster_pool_rollout_state{state="Halted",` + picked + `})`, "rollouts"}),
		stat("Kinds not run", query{`count(muster_definition_compatible == 0) or vector(0)`, "kinds"}),
	}},
	{"Pools", []panel{
		graph("Machines by state", "short", query{`sum by (state) (muster_pool_instances{` + picked + `})`, "{{state}}"}),
		graph("Available machines below desired", "short", query{
			`muster_pool_desired_instances{` + picked + `} - muster_pool_available_instances{` + picked + `} > 0`, ofPool}),
		graph("Time left of bootstrap tokens", "s", query{
			`muster_pool_bootstrap_token_expiration_timestamp_seconds{` + picked + `} - time()`, ofPool}),
	}},
	{"Rollouts", []panel{
		graph("Machines left to replace", "short", query{`muster_pool_rollout_left_instances{` + picked + `} > 0`, ofPool}),
		graph("Rollouts by state", "short", query{`sum by (state) (muster_pool_rollout_state{state!="None",` + picked + `})`, "{{state}}"}),
		graph("Pools on a former template", "short", query{`muster_pool_rolled_back{` + picked + `} > 0`, ofPool}),
		graph("Longest drain under way", "s", query{`time() - muster_pool_oldest_drain_start_timestamp_seconds{` + picked + `}`, ofPool}),
		graph("Drains an hour by outcome", "short", query{
			`sum by (outcome) (increase(muster_drain_duration_seconds_count{kind=~"$kind"}[1h]))`, "{{outcome}}"}),
		graph("Duration of drains", "s", quantiles("muster_drain_duration_seconds", "outcome", `kind=~"$kind"`)...),
	}},
	{"Gates of rollout policies", []panel{
		graph("Gates by state", "short", query{`sum by (state) (muster_gates)`, "{{state}}"}),
		graph("Answers a second by result", "ops", query{`sum by (type, result) (rate(muster_gate_asks_total[5m]))`, "{{type}} {{result}}"}),
	}},
	{"Clouds", []panel{
		graph("Requests a second by operation", "reqps", query{
			`sum by (service, operation) (rate(muster_cloud_request_duration_seconds_count[5m]))`, "{{service}} {{operation}}"}),
		graph("Refused requests a second", "reqps", query{
			`sum by (service, operation, status) (rate(muster_cloud_request_duration_seconds_count{status!~"2..|304"}[5m])) > 0`,
			"{{service}} {{operation}} {{status}}"}),
		graph("Throttled requests a second", "reqps", query{
			`sum by (service, operation) (rate(muster_cloud_requests_throttled_total[5m])) > 0`, "{{service}} {{operation}}"}),
		graph("Rate budgets below half", "percentunit", query{
			`muster_cloud_budget_left_requests / muster_cloud_budget_size_requests < 0.5`, "{{account}} {{region}} {{budget}}"}),
		graph("Refill of rate budgets", "reqps", query{`muster_cloud_budget_refill_requests_per_second`, "{{account}} {{region}} {{budget}}"}),
		graph("Duration of requests", "s", quantiles("muster_cloud_request_duration_seconds", "service", "")...),
		graph("Requests held back a second", "reqps", query{
			`sum by (service, priority) (rate(muster_cloud_requests_held_back_total[5m]))`, "{{service}} {{priority}}"}),
		graph("Observations and steps a second by result", "ops", query{
			`sum by (operation, result) (rate(muster_driver_operation_duration_seconds_count{kind=~"$kind"}[5m]))`, "{{operation}} {{result}}"}),
	}},
	{"MachinePools", []panel{
		graph("MachinePools by phase", "short", query{`sum by (phase) (muster_machinepools)`, "{{phase}}"}),
		graph("Replicas", "short",
			query{`sum(muster_machinepool_desired_replicas{cluster=~"$cluster",namespace=~"$namespace"})`, "desired"},
			query{`sum(muster_machinepool_current_replicas{cluster=~"$cluster",namespace=~"$namespace"})`, "current"},
			query{`sum(muster_machinepool_ready_replicas{cluster=~"$cluster",namespace=~"$namespace"})`, "ready"},
			query{`sum(muster_machinepool_available_replicas{cluster=~"$cluster",namespace=~"$namespace"})`, "available"},
			query{`sum(muster_machinepool_up_to_date_replicas{cluster=~"$cluster",namespace=~"$namespace"})`, "up to date"}),
	}},
	{"Manager", []panel{
		graph("Duration of passes", "s", quantiles("controller_runtime_reconcile_time_seconds", "controller", "")...),
		graph("Passes a second by result", "ops", query{
			`sum by (controller, result) (rate(controller_runtime_reconcile_total[5m]))`, "{{controller}} {{result}}"}),
		graph("Memory", "bytes", query{`process_resident_memory_bytes{job="muster-metrics"}`, "{{pod}}"}),
	}},
}

func stat(title string, q query) panel { return panel{title, number, "short", 4, []query{q}} }

func graph(title, unit string, queries ...query) panel { return panel{title, series, unit, 8, queries} }

// quantiles are the median and the 99th percentile of a histogram, by a label.
func quantiles(name, label, matching string) []query {
	of := func(q string) query {
		expr := fmt.Sprintf(`histogram_quantile(%s, sum by (%s, le) (rate(%s_bucket{%s}[5m])))`, q, label, name, matching)
		return query{strings.Replace(expr, "{}", "", 1), "{{" + label + "}} " + q}
	}
	return []query{of("0.5"), of("0.99")}
}

var named = regexp.MustCompile(`[a-z]+(?:_[a-z]+)+`)

// board is a dashboard as Grafana reads it.
type board struct {
	UID           string           `json:"uid"`
	Title         string           `json:"title"`
	Description   string           `json:"description"`
	Tags          []string         `json:"tags"`
	SchemaVersion int              `json:"schemaVersion"`
	Version       int              `json:"version"`
	Editable      bool             `json:"editable"`
	Refresh       string           `json:"refresh"`
	Time          map[string]any   `json:"time"`
	Templating    map[string]any   `json:"templating"`
	Panels        []map[string]any `json:"panels"`
}

// boardOf returns the dashboard of the metrics in JSON.
func boardOf(metrics map[string]metric) ([]byte, error) {
	b := board{UID: "muster", Title: "Muster", Description: "Pools of machines, their rollouts and their clouds.", Tags: []string{"muster"},
		SchemaVersion: 39, Version: 1, Editable: true, Refresh: "1m", Time: map[string]any{"from": "now-6h", "to": "now"},
		Templating: map[string]any{"list": variables()}}
	shown, x, y, id := map[string]bool{}, 0, 0, 0
	for _, s := range sections {
		id++
		b.Panels = append(b.Panels, map[string]any{"id": id, "type": "row", "title": s.title, "collapsed": false, "panels": []any{},
			"gridPos": place(0, y, 24, 1)})
		x, y = 0, y+1
		height := 4
		for _, p := range s.panels {
			if p.form == series {
				height = 8
			}
			if x+p.width > 24 {
				x, y = 0, y+height
			}
			id++
			b.Panels = append(b.Panels, drawn(p, id, place(x, y, p.width, height), metrics, shown))
			x += p.width
		}
		y += height
	}
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		if !shown[name] {
			return nil, fmt.Errorf("no panel shows the metric %s", name)
		}
	}
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}

func place(x, y, w, h int) map[string]int { return map[string]int{"x": x, "y": y, "w": w, "h": h} }

// drawn returns a panel as Grafana reads it, and notes the metrics that it shows.
func drawn(p panel, id int, at map[string]int, metrics map[string]metric, shown map[string]bool) map[string]any {
	var targets []map[string]any
	var told []string
	for i, q := range p.queries {
		targets = append(targets, map[string]any{"refId": string(rune('A' + i)), "expr": q.expr, "legendFormat": q.legend,
			"datasource": source()})
		for _, name := range named.FindAllString(q.expr, -1) {
			m, is := metrics[name]
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				if !is {
					m, is = metrics[strings.TrimSuffix(name, suffix)]
				}
			}
			if is && !slices.Contains(told, m.name+": "+m.what) {
				shown[m.name] = true
				told = append(told, m.name+": "+m.what)
			}
		}
	}
	out := map[string]any{"id": id, "type": p.form, "title": p.title, "description": strings.Join(told, "\n\n"), "gridPos": at,
		"datasource": source(), "targets": targets,
		"fieldConfig": map[string]any{"defaults": map[string]any{"unit": p.unit, "min": 0}, "overrides": []any{}}}
	if p.form == series {
		out["options"] = map[string]any{"legend": map[string]any{"displayMode": "list", "placement": "bottom"},
			"tooltip": map[string]any{"mode": "multi", "sort": "desc"}}
	}
	return out
}

func source() map[string]string {
	return map[string]string{"type": "prometheus", "uid": "${datasource}"}
}

// variables returns what a user picks: the source of the data, and pools.
func variables() []map[string]any {
	list := []map[string]any{{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}}
	for _, v := range [][3]string{{"cluster", "Cluster", "cluster"}, {"namespace", "Namespace", "namespace"}, {"kind", "Kind", "kind"},
		{"pool", "Pool", "name"}} {
		asked := `label_values(muster_pool_observed, ` + v[2] + `)`
		list = append(list, map[string]any{"name": v[0], "label": v[1], "type": "query", "datasource": source(), "definition": asked,
			"query": map[string]any{"query": asked, "refId": v[0]}, "refresh": 2, "sort": 1, "multi": true, "includeAll": true, "allValue": ".*",
			"current": map[string]any{"text": "All", "value": "$__all"}})
	}
	return list
}
