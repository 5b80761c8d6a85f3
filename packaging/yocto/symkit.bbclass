# Writes the symbols of a recipe's programs and libraries into a symbol store, before the
# package task strips them. In local.conf, for all recipes: INHERIT += "symkit"; or in one
# recipe: inherit symkit. Needs symkit-native, whose recipe is beside this file's.

SYMKIT_STORE ?= "${DEPLOY_DIR}/symbols"
SYMKIT_FLAGS ?= "--inlines --strict"
# Source files are named as the packages of debug sources name them: FROM=TO, separated by
# spaces, for compilers that are run without DEBUG_PREFIX_MAP.
SYMKIT_PATH_MAP ?= "${S}=${TARGET_DBGSRC_DIR} ${B}=${TARGET_DBGSRC_DIR} ${WORKDIR}=${TARGET_DBGSRC_DIR}"

DEPENDS:append:class-target = " symkit-native"

do_symkit() {
	maps=""
	for map in ${SYMKIT_PATH_MAP}; do
		maps="$maps --path-map $map"
	done

	code=0
	dump_syms ${SYMKIT_FLAGS} $maps --sysroot ${D} --allow-empty --manifest ${WORKDIR}/symkit.json \
		-R -s ${SYMKIT_STORE} ${D} 2> ${WORKDIR}/symkit.log || code=$?
	case $code in
	0) ;;
	2) bbwarn "dump_syms: $(cat ${WORKDIR}/symkit.log)" ;;
	*) bbfatal "dump_syms: $(cat ${WORKDIR}/symkit.log)" ;;
	esac
}
do_symkit[dirs] = "${SYMKIT_STORE}"
do_symkit[doc] = "Writes the symbols of programs and libraries into a symbol store"

python () {
    # Only what runs on the target crashes there.
    if bb.data.inherits_class("native", d) or bb.data.inherits_class("nativesdk", d) or bb.data.inherits_class("cross", d):
        return
    bb.build.addtask("do_symkit", "do_package", "do_install", d)
}
