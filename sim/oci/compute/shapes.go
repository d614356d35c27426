package compute

import (
	"slices"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/sim/oci/rest"
)

// Limits of flexible shapes.
const (
	mostOCPUs, mostMemoryGB        = 94, 1024
	memoryPerOCPU, mostPerOCPU     = 16, 64
	leastOCPUs, leastMemoryPerOCPU = 1, 1
)

// listShapes answers with the shapes that an availability domain has, in each of them where none is named.
func listShapes(s *Service, x *rest.Exchange) (rest.Reply, error) {
	if _, err := x.Compartment(x.Query.Get("compartmentId")); err != nil {
		return rest.Reply{}, err
	}
	domains := s.rows.Domains
	if domain := x.Query.Get("availabilityDomain"); domain != "" {
		if !slices.Contains(domains, domain) {
			return rest.Reply{}, rest.NotFound()
		}
		domains = []string{domain}
	}
	image := x.Query.Get("imageId")
	_, arm, known := s.launcher.image(image)
	if image != "" && !known {
		return rest.Reply{}, rest.NotFound()
	}
	var all []document.Object
	for _, domain := range domains {
		for _, name := range catalogue.ShapeNames() {
			if is := catalogue.Shapes[name]; image == "" || is.Arm == arm {
				all = append(all, showShape(domain, name, is))
			}
		}
	}
	how := page("Shape", map[string]string{"shape": "shape"})
	how.Order, how.Orders = "", nil
	return x.Page(s.rows.State, how, all)
}

func showShape(domain, name string, is catalogue.Shape) document.Object {
	out := document.Object{"id": domain + "/" + name, "availabilityDomain": domain, "shape": name, "isFlexible": is.Flexible,
		"ocpus": float64(is.OCPUs), "memoryInGBs": float64(is.MemoryGB), "billingType": "PAID"}
	if is.Flexible {
		out["ocpuOptions"] = document.Object{"min": float64(leastOCPUs), "max": float64(mostOCPUs)}
		out["memoryOptions"] = document.Object{"minInGBs": float64(leastMemoryPerOCPU), "maxInGBs": float64(mostMemoryGB),
			"defaultPerOcpuInGBs": float64(memoryPerOCPU), "minPerOcpuInGBs": float64(leastMemoryPerOCPU), "maxPerOcpuInGBs": float64(mostPerOCPU)}
	}
	return out
}
