// Package catalogue holds what a region of Oracle Cloud offers: shapes, fault domains, images and the limits of the tenancy.
package catalogue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Shape is a type of machines. Flexible ones have the number of OCPUs and the memory that a machine asks for.
type Shape struct {
	OCPUs, MemoryGB int
	Flexible, Arm   bool
}

// Shapes are the types of machines by name.
var Shapes = map[string]Shape{
	"VM.Standard.E4.Flex": {OCPUs: 1, MemoryGB: 16, Flexible: true}, "VM.Standard.E5.Flex": {OCPUs: 1, MemoryGB: 16, Flexible: true},
	"VM.Standard3.Flex": {OCPUs: 1, MemoryGB: 16, Flexible: true}, "VM.Standard2.1": {OCPUs: 1, MemoryGB: 15},
	"VM.Standard2.4": {OCPUs: 4, MemoryGB: 60}, "VM.Standard.A1.Flex": {OCPUs: 1, MemoryGB: 6, Flexible: true, Arm: true},
	"VM.GPU.A10.1": {OCPUs: 15, MemoryGB: 240}, "BM.Standard.E5.192": {OCPUs: 192, MemoryGB: 2304},
}

// ShapeNames returns the names of all shapes in order.
func ShapeNames() []string { return slices.Sorted(maps.Keys(Shapes)) }

// Size returns the processors and the memory in MiB of a machine of a shape that asks for OCPUs and memory; zero asks for none.
func Size(shape string, ocpus, memoryGB int) (cpus, memoryMiB int) {
	is := Shapes[shape]
	cpus, memoryMiB = 2*cmp.Or(ocpus, is.OCPUs, 1), cmp.Or(memoryGB, is.MemoryGB, 16)<<10
	if is.Arm {
		cpus /= 2
	}
	return cpus, memoryMiB
}

// FaultDomains returns those of every availability domain.
func FaultDomains() []string { return []string{"FAULT-DOMAIN-1", "FAULT-DOMAIN-2", "FAULT-DOMAIN-3"} }

// Limits are the limits of the tenancy.
type Limits struct {
	// Most returns the largest number of machines of a shape, and whether there is one.
	Most func(shape string) (most int, bounded bool)
	// used count the machines of a shape that services have.
	used []func(shape string) int
}

// Count adds the machines of a service to those that count.
func (l *Limits) Count(used func(shape string) int) { l.used = append(l.used, used) }

// Exceeded returns the message for one more machine of a shape, "" if the limits allow it.
func (l *Limits) Exceeded(shape string) string {
	all := 0
	for _, used := range l.used {
		all += used(shape)
	}
	if most, bounded := l.Most(shape); !bounded || all < most {
		return ""
	}
	name := strings.ToLower(strings.NewReplacer("VM.", "", "BM.", "", ".Flex", "", ".", "-").Replace(shape)) + "-core-count"
	return fmt.Sprintf("The following service limits were exceeded: %s. Request a service limit increase from the service limits page in "+
		"the console.", name)
}
