"""The kinds of syntax nodes that define a name in each language, and the kinds to search for definitions.

Invariant: this module is only a table; a kind that an installed grammar does not have is skipped.
"""

from __future__ import annotations

from typing import NamedTuple


class Rules(NamedTuple):
    """The rules of one language: kinds that define, grouped by the way to find their name, and kinds only to search.

    ``named``: the name is the field ``name``. ``declared``: the name is at the end of a chain of ``declarator`` fields.
    ``bound``: the field ``name`` (or ``left``, ``property``, ``key``) names a function or class given as ``value`` (or
    ``right``). ``bodied``: as ``named``, but only with a ``body`` (a mere mention of a type has none). ``typed``: the
    name is the field ``type`` (a Rust ``impl``). ``through``: kinds between a definition and the next one inside it.
    ``closed``: kinds that define and are not searched for further definitions.
    """

    named: str = ""
    declared: str = ""
    bound: str = ""
    bodied: str = ""
    typed: str = ""
    through: str = ""
    closed: str = ""


_C_THROUGH = """preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef linkage_specification
declaration_list declaration ERROR"""
_C_CLOSED = "preproc_def preproc_function_def function_definition enum_specifier"
_SCRIPT = Rules(
    named="""function_declaration generator_function_declaration class_declaration method_definition
    abstract_class_declaration interface_declaration type_alias_declaration enum_declaration internal_module module
    function_signature abstract_method_signature""",
    bound="variable_declarator assignment_expression field_definition public_field_definition pair",
    through="""export_statement ambient_declaration lexical_declaration variable_declaration expression_statement
    class_body statement_block parenthesized_expression call_expression arguments function_expression arrow_function
    object return_statement if_statement class enum_body interface_body unary_expression ERROR""",
)

RULES: dict[str, Rules] = {
    "c": Rules(
        named="preproc_def preproc_function_def",
        declared="function_definition init_declarator type_definition",
        bodied="struct_specifier union_specifier enum_specifier",
        through=_C_THROUGH,
        closed=_C_CLOSED,
    ),
    "cpp": Rules(
        named="preproc_def preproc_function_def namespace_definition alias_declaration concept_definition",
        declared="function_definition init_declarator type_definition",
        bodied="struct_specifier union_specifier enum_specifier class_specifier",
        through=_C_THROUGH + " template_declaration field_declaration_list field_declaration friend_declaration",
        closed=_C_CLOSED,
    ),
    "go": Rules(
        named="function_declaration method_declaration type_spec type_alias const_spec var_spec",
        through="type_declaration const_declaration var_declaration var_spec_list ERROR",
    ),
    "java": Rules(
        named="""class_declaration interface_declaration enum_declaration record_declaration
        annotation_type_declaration method_declaration constructor_declaration compact_constructor_declaration""",
        through="class_body interface_body enum_body enum_body_declarations annotation_type_body ERROR",
    ),
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "php": Rules(
        named="""class_declaration interface_declaration trait_declaration enum_declaration function_definition
        method_declaration namespace_definition""",
        through="declaration_list compound_statement enum_declaration_list if_statement ERROR",
    ),
    "python": Rules(
        named="function_definition class_definition type_alias_statement",
        through="""decorated_definition block if_statement else_clause elif_clause try_statement except_clause
        finally_clause with_statement for_statement while_statement ERROR""",
    ),
    "ruby": Rules(
        named="class module method singleton_method",
        through="body_statement singleton_class program if unless begin then else ERROR",
    ),
    "rust": Rules(
        named="""function_item function_signature_item struct_item enum_item union_item trait_item type_item mod_item
        macro_definition const_item static_item""",
        typed="impl_item",
        through="declaration_list foreign_mod_item ERROR",
    ),
    "shell": Rules(
        named="function_definition",
        through="if_statement elif_clause else_clause compound_statement list do_group case_statement case_item ERROR",
    ),
}
