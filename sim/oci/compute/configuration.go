package compute

import (
	"net/http"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci/rest"
	"github.com/muster-project/muster/sim/oci/shapes"
)

// types are those of the published bodies.
func types() map[string]map[string]string { return shapes.Core().Types }

// mostMetadata bounds metadata and extendedMetadata together, in bytes.
const mostMetadata = 32_000

// onConfiguration finds the instance configuration of a request.
func onConfiguration(run func(*Service, *rest.Exchange, *configuration) (rest.Reply, error),
) func(*Service, *rest.Exchange) (rest.Reply, error) {
	return func(s *Service, x *rest.Exchange) (rest.Reply, error) {
		c := s.rows.configurations.Get(x.Vars["instanceConfigurationId"])
		if c == nil {
			return rest.Reply{}, rest.NotFound()
		}
		return run(s, x, c)
	}
}

func createInstanceConfiguration(s *Service, x *rest.Exchange) (rest.Reply, error) {
	body, err := x.Read(types(), "CreateInstanceConfigurationBase")
	if err != nil {
		return rest.Reply{}, err
	}
	if _, err := x.Compartment(document.Text(body, "compartmentId")); err != nil {
		return rest.Reply{}, err
	}
	if document.Text(body, "source") == "INSTANCE" {
		m := s.rows.find(document.Text(body, "instanceId"))
		if m == nil {
			return rest.Reply{}, rest.NotFound()
		}
		body["instanceDetails"] = document.Object{"instanceType": "compute", "launchDetails": document.Copied(s.rows.launches.Kept(m.Launch))}
	}
	delete(body, "source")
	delete(body, "instanceId")
	c := &configuration{Doc: body}
	if err := checkConfiguration(s, c); err != nil {
		return rest.Reply{}, err
	}
	addConfiguration(s, c)
	return showConfiguration(c), nil
}

// checkConfiguration refuses an instance configuration that is not possible.
func checkConfiguration(s *Service, c *configuration) error {
	launch := c.launch()
	if launch == nil {
		return rest.Missing("instanceDetails.launchDetails")
	}
	size := len(document.Written(launch["metadata"])) + len(document.Written(launch["extendedMetadata"]))
	if size > mostMetadata {
		return rest.Invalid("Invalid metadata: metadata and extendedMetadata have %d bytes, and %d at most.", size, mostMetadata)
	}
	if !s.rows.Switches.On(ChecksConfigurations) {
		return nil
	}
	if f := s.launcher.unlaunchable(launch); f != nil {
		return rest.Invalid("%s", f.message)
	}
	return nil
}

// addConfiguration adds an instance configuration.
func addConfiguration(s *Service, c *configuration) {
	c.ID, c.Created, c.Revision = s.rows.ocid("instanceconfiguration", s.rows.NextNumber("oci-configuration")), s.rows.Now, 1
	preset(s, c.Doc, "instanceconfiguration")
	s.rows.configurations.Put(c.ID, c)
}

// preset adds to the document of a new resource what the service chooses itself.
func preset(s *Service, doc document.Object, kind string) {
	document.Preset(doc, "displayName", kind+s.rows.Now.UTC().Format("20060102150405"))
	document.Preset(doc, "freeformTags", document.Object{})
	document.Preset(doc, "definedTags", document.Object{})
	if s.rows.Switches.On(TagDefaults) {
		document.Place(doc, "definedTags.Oracle-Tags", document.Object{"CreatedBy": "default/muster", "CreatedOn": rest.Stamp(s.rows.Now)})
	}
}

// showConfiguration answers with an instance configuration.
func showConfiguration(c *configuration) rest.Reply {
	return rest.Shown(rest.Only(types(), "InstanceConfiguration", c.shown()), rest.Etag(c.ID, c.Revision))
}

func (c *configuration) shown() document.Object {
	out := document.Copied(c.Doc)
	out["id"], out["timeCreated"], out["deferredFields"] = c.ID, rest.Stamp(c.Created), []any{}
	return out
}

func getInstanceConfiguration(_ *Service, _ *rest.Exchange, c *configuration) (rest.Reply, error) {
	return showConfiguration(c), nil
}

func listInstanceConfigurations(s *Service, x *rest.Exchange) (rest.Reply, error) {
	var all []document.Object
	for _, c := range s.rows.configurations.All() {
		all = append(all, c.shown())
	}
	return x.List(s.rows.State, page("InstanceConfigurationSummary", nil), all)
}

// page returns how lists are shown that are in the order of their creation.
func page(typ string, filters map[string]string) rest.Listing {
	const size, most = 100, 100
	return rest.Listing{Filters: filters, Order: "TIMECREATED", Descending: []string{"TIMECREATED"}, Size: size, Most: most,
		Orders: map[string]string{"TIMECREATED": "timeCreated", "DISPLAYNAME": "displayName"},
		Show:   func(d document.Object) document.Object { return rest.Only(types(), typ, d) }}
}

func deleteInstanceConfiguration(s *Service, x *rest.Exchange, c *configuration) (rest.Reply, error) {
	if err := x.Match(rest.Etag(c.ID, c.Revision)); err != nil {
		return rest.Reply{}, err
	}
	return rest.Reply{Status: http.StatusNoContent}, dropConfiguration(s, c)
}

// dropConfiguration deletes an instance configuration that no pool uses.
func dropConfiguration(s *Service, c *configuration) error {
	for _, p := range s.rows.pools.All() {
		if p.State != terminated && p.text("instanceConfigurationId") == c.ID {
			return rest.Conflict("The Instance Configuration %s is associated to one or more Instance Pools.", c.ID)
		}
	}
	s.rows.configurations.Delete(c.ID)
	return nil
}
