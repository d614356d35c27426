package world

import "path/filepath"

// CloudsOf returns the settings, each NAME=value, with which a process with the kubeconfig of a world reaches the world's clouds. They
// isolate it from all other accounts of the clouds (OfCloud), so that it never reaches a real one. It returns false for a kubeconfig that
// is not a world's.
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
