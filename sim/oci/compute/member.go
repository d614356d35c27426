package compute

import (
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci/rest"
)

// shownMember returns an instance as lists of its pool have it, with more members than they do.
func shownMember(s *Service, m *instance) document.Object {
	state := m.State
	if s.rows.Switches.On(ShowsAwaiting) && m.Phase == awaiting {
		state = m.Phase
	}
	if !s.rows.Switches.On(UpperStates) {
		state = state[:1] + strings.ToLower(state[1:])
	}
	return document.Object{"id": m.ID, "instancePoolId": m.Pool, "availabilityDomain": m.Zone, "faultDomain": m.FaultDomain,
		"compartmentId": m.Compartment, "displayName": m.Name, "instanceConfigurationId": m.Configuration, "region": s.rows.Region,
		"shape": m.Type, "state": state, "lifecycleState": phaseOf(m), "timeCreated": rest.Stamp(m.Created), "loadBalancerBackends": []any{}}
}

// phaseOf returns the phase of an instance in its pool.
func phaseOf(m *instance) string {
	if m.State == terminating {
		return proceeds
	}
	return m.Phase
}

// onMember finds the instance of a request in its pool.
func onMember(s *Service, p *pool, id string) (*instance, error) {
	all := s.rows.members(p)
	at := slices.IndexFunc(all, func(m *instance) bool { return m.ID == id })
	if at < 0 {
		return nil, rest.NotFound()
	}
	return all[at], nil
}

func listInstancePoolInstances(s *Service, x *rest.Exchange, p *pool) (rest.Reply, error) {
	var all []document.Object
	for _, m := range s.rows.members(p) {
		all = append(all, shownMember(s, m))
	}
	return x.List(s.rows.State, page("InstanceSummary", map[string]string{"displayName": "displayName"}), all)
}

func getInstancePoolInstance(s *Service, x *rest.Exchange, p *pool) (rest.Reply, error) {
	m, err := onMember(s, p, x.Vars["instanceId"])
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.Shown(rest.Only(types(), "InstancePoolInstance", shownMember(s, m)), ""), nil
}

// detachInstancePoolInstance takes an instance out of a pool. Another one takes its place unless the size falls.
func detachInstancePoolInstance(s *Service, x *rest.Exchange, p *pool) (rest.Reply, error) {
	body, err := x.Read(types(), "DetachInstancePoolInstanceDetails")
	if err != nil {
		return rest.Reply{}, err
	}
	m, err := onMember(s, p, document.Text(body, "instanceId"))
	if err != nil {
		return rest.Reply{}, err
	}
	if body["isDecrementSize"] == nil {
		body["isDecrementSize"] = true
	}
	work, err := detach(s, p, m, document.Truth(body, "isDecrementSize"), document.Truth(body, "isAutoTerminate"))
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.Reply{Status: http.StatusAccepted, Header: map[string]string{"Opc-Work-Request-Id": work}}, nil
}

// detach begins to take an instance out of a pool, and returns the work request.
func detach(s *Service, p *pool, m *instance, fewer, ends bool) (string, error) {
	if m.leaving() {
		return "", rest.Conflict("Instance %s is leaving the instance pool.", m.ID)
	}
	if err := open(s, p); err != nil && (p.State != scaling || s.rows.Switches.On(DetachesAtRest)) {
		return "", err
	}
	w := s.rows.Works.Begin(workDetach, p.text("compartmentId"), kindPool, p.ID, m.ID)
	m.Work = w.ID
	if fewer {
		p.Size--
	}
	s.rows.changed(p)
	if p.State == running {
		s.rows.enter(p, scaling)
	}
	if ends {
		s.life.leave(p, m, false)
	} else {
		m.Phase, m.PhaseAt = detaching, s.rows.Now.Add(s.rows.Life(lifeAttach))
	}
	s.rows.instances.Touch(m.key())
	return w.ID, nil
}

// attachInstancePoolInstance adds an instance that is in no pool, and raises the size.
func attachInstancePoolInstance(s *Service, x *rest.Exchange, p *pool) (rest.Reply, error) {
	body, err := x.Read(types(), "AttachInstancePoolInstanceDetails")
	if err != nil {
		return rest.Reply{}, err
	}
	m := s.rows.find(document.Text(body, "instanceId"))
	switch {
	case m == nil || m.Compartment != p.text("compartmentId"):
		return rest.Reply{}, rest.NotFound()
	case m.Pool != "" || m.leaving():
		return rest.Reply{}, rest.Conflict("Instance %s is in an instance pool or is terminating.", m.ID)
	case m.State != running || !slices.Contains(p.domains(), m.Zone):
		return rest.Reply{}, rest.Invalid("Invalid instanceId: instance %s does not run in an availability domain of the pool.", m.ID)
	}
	if err := open(s, p); err != nil {
		return rest.Reply{}, err
	}
	w := s.rows.Works.Begin(workAttach, p.text("compartmentId"), kindPool, p.ID, m.ID)
	s.rows.instances.Delete(m.key())
	m.Pool, m.Phase, m.PhaseAt, m.Work = p.ID, attaching, s.rows.Now.Add(s.rows.Life(lifeAttach)), w.ID
	s.rows.instances.Put(m.key(), m)
	p.Size++
	s.rows.changed(p)
	out := rest.Shown(rest.Only(types(), "InstancePoolInstance", shownMember(s, m)), "")
	out.Status, out.Header["Opc-Work-Request-Id"] = http.StatusCreated, w.ID
	return out, nil
}

// terminationProceedInstancePoolInstance ends the wait of a pool before it terminates an instance.
func terminationProceedInstancePoolInstance(s *Service, x *rest.Exchange, p *pool) (rest.Reply, error) {
	body, err := x.Read(types(), "TerminationProceedInstancePoolInstanceDetails")
	if err != nil {
		return rest.Reply{}, err
	}
	m, err := onMember(s, p, document.Text(body, "instanceId"))
	switch {
	case err != nil:
		return rest.Reply{}, err
	case m.Phase == awaiting && m.State != terminating:
		m.Phase = proceeds
		s.life.terminate(m)
	case !s.rows.Switches.On(ProceedsAnyway):
		return rest.Reply{}, rest.IncorrectState("Instance %s does not wait for its termination.", m.ID)
	}
	return rest.Reply{Status: http.StatusAccepted}, nil
}
