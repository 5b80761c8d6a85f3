package rawdump

import "symkit/walk/internal/mdmp"

// handles writes MINIDUMP_HANDLE_DATA_STREAM.
func (p *printer) handles() {
	if !p.d.Has(mdmp.HandleDataStream) {
		return
	}
	p.printf("MinidumpHandleDataStream\n  handle_count = %d\n\n", len(p.d.Handles))
	for i := range p.d.Handles {
		if p.err != nil {
			return
		}
		h := &p.d.Handles[i]
		p.printf("handle[%d]\n", i)
		p.record("MINIDUMP_HANDLE_DESCRIPTOR", 17, h.HandleRecord)
		if h.Extended {
			p.printf("  object_info_rva   = %#x\n", h.InfoAt.RVA)
		} else {
			p.printf("  object_info_rva   = (invalid)\n")
		}
		p.line(17, "(type_name)", wide(h.Type, "(null)"))
		p.line(17, "(object_name)", wide(h.Name, "(null)"))
		p.objectInfo(h.Info)
		p.printf("\n")
	}
}

// objectTypes are the names of MINIDUMP_HANDLE_OBJECT_INFORMATION_TYPE.
var objectTypes = []string{"MiniHandleObjectInformationNone", "MiniThreadInformation1", "MiniMutantInformation1",
	"MiniMutantInformation2", "MiniProcessInformation1", "MiniProcessInformation2", "MiniEventInformation1",
	"MiniSectionInformation1", "MiniSemaphoreInformation1", "MiniHandleObjectInformationTypeMax"}

// objectInfo writes a chain of MINIDUMP_HANDLE_OBJECT_INFORMATION, up to the first of an unknown
// type.
func (p *printer) objectInfo(infos []mdmp.HandleInfo) {
	for i, info := range infos {
		if info.Type >= uint32(len(objectTypes)) {
			infos = infos[:i]
			break
		}
		p.printf("  (object_info)     = {raw: MINIDUMP_HANDLE_OBJECT_INFORMATION { next_info_rva: %d, info_type: %d, size_of_info: %d }, type: %s}\n",
			info.Next.RVA, info.Type, info.Size, objectTypes[info.Type])
	}
	if len(infos) == 0 {
		p.printf("  (object_info)     = (null)\n")
	}
}
