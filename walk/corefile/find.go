package corefile

import "symkit/walk"

// findModules lists the modules: those of NT_FILE, else those of the dynamic
// linker's list, and the vdso, which is in no file.
func (c *Core) findModules() {
	vdso := c.vdso()
	if len(c.mapped) > 0 {
		c.fromMapped(vdso)
		embedding{c}.addModules()
	} else {
		c.fromLinkMap(vdso)
	}
	if vdso != nil {
		c.add(vdso)
	}

	// Modules are looked up by address from here on.
	c.Process.SortModules()
	c.findMain()
	for _, m := range c.Process.Modules {
		if c.deleted[m.Path] && !c.reallyNamed(m) {
			c.warn("%s: was deleted or replaced while the process ran", m.Path)
		}
		c.name(m)
	}
}

// reallyNamed reports whether the file of m has the end that the kernel adds to the paths of
// deleted files in its name, which m then gets.
func (c *Core) reallyNamed(m *walk.Module) bool {
	path := m.Path + deletedMark
	if c.files == nil || !c.files.At(path, m) {
		return false
	}
	for i := range c.mapped {
		if c.mapped[i].name == m.Path {
			c.mapped[i].name = path
		}
	}
	m.Path = path
	return true
}
