package fields_test

import (
	"fmt"

	"github.com/muster-project/muster/cloud/fields"
)

// nodePool is the document of a cloud, update the request that changes it.
type nodePool struct {
	Machine string
	Labels  map[string]string
	Subnet  string
}

type update map[string]any

// Each field has one row. What a change does, which fields differ, and the body of the request follow from the rows.
func ExampleTable() {
	table := fields.Table[*nodePool, update]{
		{Name: "machineType", Spec: "spec.machineType", Effect: fields.Rolls,
			Value: func(n *nodePool) any { return fields.Text(n.Machine) }},
		{Name: "labels", Spec: "spec.labels", Effect: fields.InPlace, Compare: fields.Exact,
			Value: func(n *nodePool) any { return n.Labels },
			Put:   func(u update, want, _ *nodePool) { u["labels"] = want.Labels }},
		{Name: "subnet", Spec: "spec.subnet", Effect: fields.Fixed,
			Value: func(n *nodePool) any { return fields.Text(n.Subnet) }},
	}
	is := &nodePool{Machine: "small", Labels: map[string]string{"tier": "a"}, Subnet: "s-1"}
	want := &nodePool{Machine: "large", Labels: map[string]string{"tier": "b"}} // names no subnet

	fmt.Println("replace machines:", table.Differing(want, is, fields.Rolls).Specs())
	drift := table.Differing(want, is, fields.InPlace)
	fmt.Println("change in place:", drift.Specs())
	request := update{}
	drift.Put(request, want, is)
	fmt.Println("request:", request)

	want.Subnet = "s-2"
	fmt.Println("can't be changed:", table.Differing(want, is, fields.Fixed).Specs())

	// Output:
	// replace machines: [spec.machineType]
	// change in place: [spec.labels]
	// request: map[labels:map[tier:b]]
	// can't be changed: [spec.subnet]
}
