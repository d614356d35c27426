package page

import (
	"net/http"

	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/page/fleet"
)

// fleetPage is the view of all pools.
type fleetPage struct {
	base
	fleet.Fleet
	Levels []view.Level
}

// fleet answers with the page of the pools that the address selects.
func (s *Server) fleet(w http.ResponseWriter, r *http.Request, v *Viewer) error {
	f, err := v.Fleet.Fleet(r.Context(), fleet.Parse(r.URL.Query()))
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, f)
		return nil
	}
	s.render(w, http.StatusOK, "fleet", fleetPage{base: s.base(v, "fleet"), Fleet: f, Levels: view.Levels()})
	return nil
}

// fleetEvents sends the changes of what the address selects.
func (s *Server) fleetEvents(w http.ResponseWriter, r *http.Request, v *Viewer) error {
	free, err := s.take(v)
	if err != nil {
		return err
	}
	defer free()
	shown, err := v.Fleet.Fleet(r.Context(), fleet.Parse(r.URL.Query()))
	if err != nil {
		return err
	}
	opened := v.Fleet.Open(shown)
	defer v.Fleet.Close(opened)
	// What the client shows may be older than this stream: it begins with all of it.
	var first []byte
	for _, encode := range []func(fleet.Fleet) ([]byte, error){Encoder{}.Counts, Encoder{}.Lines} {
		message, err := encode(shown)
		if err != nil {
			return err
		}
		first = append(first, message...)
	}
	return s.send(w, r, v, first, opened.Messages)
}

// Encoder makes messages of the parts of the fleet's view.
type Encoder struct{}

// Row replaces one line.
func (Encoder) Row(l fleet.Line) ([]byte, error) { return message("fleet", "row-message", l) }

// Counts replaces the figures above the lines.
func (Encoder) Counts(f fleet.Fleet) ([]byte, error) { return message("fleet", "counts-message", f) }

// Lines replaces all lines.
func (Encoder) Lines(f fleet.Fleet) ([]byte, error) { return message("fleet", "lines-message", f) }
