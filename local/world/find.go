package world

import "path/filepath"

// CloudsOf are the settings, each NAME=value, with which the clouds of a world are reached by a process that was given its kubeconfig, with
// no other setting of any cloud beside them (OfCloud): a world never reaches a real account. It is false for a kubeconfig that is
// not a world's.
func CloudsOf(kubeconfig string) (settings []string, ok bool, err error) {
	d := Dir(filepath.Dir(kubeconfig))
	if filepath.Base(d.Kubeconfig()) != filepath.Base(kubeconfig) {
		return nil, false, nil
	}
	p, err := d.readPlaces()
	if err != nil || len(p) == 0 {
		return nil, false, err
	}
	return append(p.cloudEnvironment(Clouds()), isolation()...), true, nil
}
