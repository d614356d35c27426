package toy

import (
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/toy/session"
)

// body is the body of a request, by its members.
type body = session.Body

// putUpgrade puts a member into the object upgrade.
func putUpgrade(b body, name string, value any) {
	settings, ok := b["upgrade"].(body)
	if !ok {
		settings = body{}
		b["upgrade"] = settings
	}
	settings[name] = value
}

type (
	row  = fields.Field[*poolDoc, body]
	list = fields.Table[*poolDoc, body]
)

// rows are the fields of a pool, by their members in requests and documents.
var rows = list{
	rolls("version", fields.Version, func(d *poolDoc) any { return fields.Text(d.Version) }),
	rolls("machineType", session.FieldMachineType, func(d *poolDoc) any { return fields.Text(d.MachineType) }),
	rolls("image", "spec.image", func(d *poolDoc) any { return fields.Text(d.Image) }),
	{Name: "zones", Spec: "spec.zones", Effect: fields.Fixed, Owned: session.Ours, Value: func(d *poolDoc) any { return fields.Set(d.Zones) }},
	{Name: "labels", Spec: "spec.labels", Compare: fields.Exact, Owned: session.Ours, Value: func(d *poolDoc) any { return d.Labels },
		Put: func(b body, want, _ *poolDoc) { b["labels"] = session.Entries(want.Labels) }},
	{Name: "taints", Spec: "spec.taints", Compare: fields.Unordered, Owned: session.Ours,
		Value: func(d *poolDoc) any { return textsOf(d.Taints) },
		Put:   func(b body, want, _ *poolDoc) { b["taints"] = append([]Taint{}, want.Taints...) }},
	{Name: "tags", Spec: "spec.tags", Compare: fields.Exact, Owned: session.Consent, Value: func(d *poolDoc) any { return d.Tags },
		Put: func(b body, want, is *poolDoc) { b["tags"] = fields.With(session.Consent, want.Tags, is.Tags) }},
	{Name: "autoscaling", Spec: "spec.autoscaling", Value: func(d *poolDoc) any { return d.Autoscaling },
		Put: func(b body, want, _ *poolDoc) { b["autoscaling"] = want.Autoscaling }},
	upgrading("maxSurge", "maxSurge", func(d *poolDoc) any { return d.Upgrade.MaxSurge }),
	upgrading("maxUnavailable", "maxUnavailable", func(d *poolDoc) any { return d.Upgrade.MaxUnavailable }),
	upgrading("drainTimeout", "drainTimeoutSeconds", func(d *poolDoc) any { return d.Upgrade.DrainTimeout }),
	upgrading("soak", "soakSeconds", func(d *poolDoc) any { return d.Upgrade.Soak }),
	{Name: "count", Spec: fields.Replicas, Effect: fields.Fixed, Doc: "adds nodes, or deletes nodes that Muster has drained"},
}

func rolls(name, spec string, value func(*poolDoc) any) row {
	return row{Name: name, Spec: spec, Effect: fields.Rolls, Value: value, Put: func(b body, want, _ *poolDoc) { b[name] = value(want) }}
}

func upgrading(name, spec string, value func(*poolDoc) any) row {
	return row{Name: "upgrade." + name, Spec: "spec.upgrade." + spec, Value: value,
		Put: func(b body, want, _ *poolDoc) { putUpgrade(b, name, value(want)) }}
}

// textsOf returns taints as texts that can be compared in any order.
func textsOf(taints []Taint) []string {
	out := []string{}
	for _, t := range taints {
		out = append(out, t.Key+"="+t.Value+":"+t.Effect)
	}
	return out
}
