// A plugin of typedoc: a class lists what it declares and what interfaces add to it, an interface lists what it
// declares and inherited properties. The rest is where it is declared, which is linked; a grid would repeat all
// members of a communicator.
import { Converter, ReflectionKind } from 'typedoc'

/** @param {import('typedoc').Application} app */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    const inherited = Object.values(project.reflections).filter(
      (member) =>
        member.inheritedFrom?.reflection !== undefined &&
        (isMethodOfInterface(member) || isOfClass(member.inheritedFrom.reflection)),
    )
    for (const reflection of inherited) project.removeReflection(reflection)
  })
}

const isMethodOfInterface = ({ kind, parent }) =>
  kind === ReflectionKind.Method && parent?.kind === ReflectionKind.Interface

/** Whether a class declares a member, which interfaces between may hand on. */
const isOfClass = (member) =>
  member.parent?.kind === ReflectionKind.Class ||
  (member.inheritedFrom?.reflection !== undefined && isOfClass(member.inheritedFrom.reflection))
