package compute

import (
	"fmt"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/sim/oci/rest"
)

// named returns the pool of an OCID or a name that is not terminated, or why there is none.
func named(s *Service, name string) (*pool, error) {
	for _, p := range s.rows.pools.All() {
		if (p.ID == name || p.text("displayName") == name) && p.State != terminated {
			return p, nil
		}
	}
	return nil, fmt.Errorf("there is no instance pool %q", name)
}

// configurationNamed returns the instance configuration of an OCID or a name, nil if there is none.
func configurationNamed(s *Service, name string) *configuration {
	for _, c := range s.rows.configurations.All() {
		if c.ID == name || document.Text(c.Doc, "displayName") == name {
			return c
		}
	}
	return nil
}

// member returns the instance of an OCID that neither leaves its pool nor has ended, or why there is none.
func member(s *Service, id string) (*instance, error) {
	m := s.rows.find(id)
	if m == nil || m.leaving() {
		return nil, fmt.Errorf("there is no instance %q, or it is leaving its pool", id)
	}
	return m, nil
}

// CreateConfiguration creates an instance configuration without tags in a compartment as another tool does.
func (s *Service) CreateConfiguration(compartment, name string) {
	addConfiguration(s, &configuration{Doc: document.Object{"compartmentId": compartment, "displayName": name,
		"instanceDetails": document.Object{"instanceType": "compute", "launchDetails": document.Object{"compartmentId": compartment,
			"shape": "VM.Standard.E4.Flex", "shapeConfig": document.Object{"ocpus": 1.0, "memoryInGBs": 16.0},
			"sourceDetails": document.Object{"sourceType": "image", "imageId": catalogue.Image(s.rows.RegionKey, "1.34.2", "amd64")}}}}})
}

// DeleteConfiguration deletes the instance configuration of a name.
func (s *Service) DeleteConfiguration(name string) error {
	if c := configurationNamed(s, name); c != nil {
		return dropConfiguration(s, c)
	}
	return fmt.Errorf("there is no instance configuration %q", name)
}

// CreatePool creates an empty pool in a compartment as another tool does, with an instance configuration of the same name.
func (s *Service) CreatePool(compartment, name string) error {
	if configurationNamed(s, name) == nil {
		s.CreateConfiguration(compartment, name)
	}
	placements := []any{}
	for _, domain := range s.rows.Domains {
		placements = append(placements, document.Object{"availabilityDomain": domain, "primarySubnetId": s.rows.ocid("subnet", domain)})
	}
	p := &pool{Type: "INSTANCE", Doc: document.Object{"compartmentId": compartment, "displayName": name,
		"instanceConfigurationId": configurationNamed(s, name).ID, "placementConfigurations": placements}}
	if err := check(s, p); err != nil {
		return err
	}
	add(s, p)
	return nil
}

// DeletePool terminates a pool.
func (s *Service) DeletePool(name string) error {
	p, err := named(s, name)
	if err == nil && p.State != terminating {
		terminatePool(s, p)
	}
	return err
}

// Update changes a pool by a document as UpdateInstancePool does. What that does not name stays.
func (s *Service) Update(name string, body document.Object) error {
	p, err := named(s, name)
	if err == nil {
		err = update(s, p, body)
	}
	return err
}

// Autoscale sets the size of a pool as the cloud's autoscaler does.
func (s *Service) Autoscale(name string, size int) error {
	err := s.Update(name, document.Object{"size": float64(size)})
	if err == nil {
		p, _ := named(s, name)
		p.Autoscaled = true
	}
	return err
}

// Tag sets a freeform tag of a pool, or removes it for an empty value. It does so in any state.
func (s *Service) Tag(name, tag, value string) error {
	p, err := named(s, name)
	if err != nil {
		return err
	}
	tags := document.Pairs(p.Doc, "freeformTags")
	if tags[tag] = value; value == "" {
		delete(tags, tag)
	}
	p.Doc["freeformTags"] = document.OfStrings(tags)
	s.rows.changed(p)
	return nil
}

// PointAt has a pool launch from the instance configuration of a name or an OCID.
func (s *Service) PointAt(name, configuration string) error {
	c := configurationNamed(s, configuration)
	if c == nil {
		return rest.NotFound()
	}
	return s.Update(name, document.Object{"instanceConfigurationId": c.ID})
}

// RemoveHook ends that a pool waits before it terminates instances. Those for which it waits are terminated.
func (s *Service) RemoveHook(name string) error {
	p, err := named(s, name)
	if err != nil {
		return err
	}
	delete(p.Doc, "lifecycleManagement")
	s.rows.changed(p)
	for _, m := range s.rows.members(p) {
		if m.Phase == awaiting {
			s.life.terminate(m)
		}
	}
	return nil
}

// SetType sets the type of a pool: GMC is one that another service of Oracle's manages.
func (s *Service) SetType(name, typ string) error {
	p, err := named(s, name)
	if err == nil {
		p.Type = typ
		s.rows.pools.Touch(p.ID)
	}
	return err
}

// StopPool and StartPool power all instances of a pool off and on.
func (s *Service) StopPool(name string) error { return powerNamed(s, name, stopAll, running) }

// StartPool powers all instances of a pool on.
func (s *Service) StartPool(name string) error { return powerNamed(s, name, startAll, stopped) }

func powerNamed(s *Service, name string, do func(*Service, *pool), states ...string) error {
	p, err := named(s, name)
	if err == nil {
		err = power(s, p, do, states...)
	}
	return err
}

// Terminate terminates an instance; its pool launches another one.
func (s *Service) Terminate(id string) error {
	m, err := member(s, id)
	if err == nil {
		s.life.terminate(m)
	}
	return err
}

// Stop powers an instance off, Start powers one on that has stopped.
func (s *Service) Stop(id string) error {
	m, err := member(s, id)
	if err == nil {
		s.life.stop(m)
	}
	return err
}

// Start powers an instance on that has stopped.
func (s *Service) Start(id string) error {
	m, err := member(s, id)
	if err == nil {
		s.life.start(m)
	}
	return err
}

// Interrupt announces that a preemptible instance is taken back.
func (s *Service) Interrupt(id string) error {
	m, err := member(s, id)
	switch {
	case err != nil:
		return err
	case !m.Spot:
		return fmt.Errorf("instance %q is not preemptible", id)
	}
	m.Taken = s.rows.Now.Add(notice)
	s.rows.instances.Touch(m.key())
	return nil
}

// Detach takes an instance out of its pool, whose size falls. It goes on to run.
func (s *Service) Detach(id string) error {
	m, err := member(s, id)
	if err != nil {
		return err
	}
	p := s.rows.pools.Get(m.Pool)
	if p == nil {
		return fmt.Errorf("instance %q is in no pool", id)
	}
	_, err = detach(s, p, m, true, false)
	return err
}
